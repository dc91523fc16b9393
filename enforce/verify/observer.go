package verify

import (
	"net/netip"
	"time"
)

// SourceKind is what a document is read for.
type SourceKind uint8

const (
	ListSource      SourceKind = iota // addresses of crawlers
	DirectorySource                   // keys of signatures
)

var sourceNames = [...]string{ListSource: "list", DirectorySource: "directory"}

// String returns list or directory.
func (k SourceKind) String() string { return name(sourceNames[:], int(k)) }

// SourceState is the state of a list or a directory.
type SourceState struct {
	Kind     SourceKind
	URL      string
	Entries  int       // prefixes or keys of the copy in use; 0 without one
	Read     time.Time // when the copy was last found to be current; zero without one
	Failures int       // reads in a row that failed
}

// Observer is told what happens in the background. Its methods are called from
// any goroutine and must not block.
type Observer interface {
	// SourceRead tells of one read of a list or directory. err is nil when the copy in use is current.
	SourceRead(s SourceState, err error)
	// StorageFailed tells that a copy of url could not be stored or loaded. Verification goes on without.
	StorageFailed(url string, err error)
	// Lookup tells of one forward-confirmed reverse DNS lookup. state is Verified, Impostor (the name does not exist or belongs to
	// somebody else) or Unverified, and err what made it fail.
	Lookup(addr netip.Addr, suffixes []string, state State, took time.Duration, err error)
	// LookupDropped tells that too many lookups were waiting to add another one.
	LookupDropped()
}

// noObserver is the Observer of those who have none.
type noObserver struct{}

func (noObserver) SourceRead(SourceState, error)                            {}
func (noObserver) StorageFailed(string, error)                              {}
func (noObserver) Lookup(netip.Addr, []string, State, time.Duration, error) {}
func (noObserver) LookupDropped()                                           {}
