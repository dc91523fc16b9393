package verify

import (
	"net/netip"
	"time"
)

// SourceKind is the kind of a document that a [Verifier] reads.
type SourceKind string

// The kinds.
const (
	ListSource      SourceKind = "list"      // of addresses
	DirectorySource SourceKind = "directory" // of keys
)

// SourceState is the state of a list or a directory.
type SourceState struct {
	Kind     SourceKind
	URL      string
	Entries  int       // prefixes or keys of the copy in use; 0 if there is none
	Read     time.Time // when a read last found the copy to be current; zero if there is none
	Failures int       // failed reads since the last successful one
}

// Observer receives what happens in the background. Its methods must be safe for
// concurrent use and must not block.
type Observer interface {
	// SourceRead is called after each read of a list or directory. err is nil if the copy in use is current.
	SourceRead(s SourceState, err error)
	// StorageFailed is called if a copy of the document at url could not be stored or loaded. Verification continues without the copy.
	StorageFailed(url string, err error)
	// Lookup is called after each forward-confirmed reverse DNS lookup. state is Verified, Impostor (the address has no host name, or only
	// names outside suffixes) or Unverified (the lookup failed with err).
	Lookup(addr netip.Addr, suffixes []string, state State, took time.Duration, err error)
	// LookupDropped is called if a lookup was not queued because 128 lookups of addresses with the same suffixes already wait.
	LookupDropped()
}

// noObserver ignores everything.
type noObserver struct{}

func (noObserver) SourceRead(SourceState, error)                            {}
func (noObserver) StorageFailed(string, error)                              {}
func (noObserver) Lookup(netip.Addr, []string, State, time.Duration, error) {}
func (noObserver) LookupDropped()                                           {}
