// Package claim has what is known about a claim to be a crawler: anybody can send a
// crawler's User-Agent. Package verify checks claims.
package claim

import (
	"fmt"
	"slices"
)

// State is the result of a check of a claim to be a crawler.
type State uint8

const (
	// NoMethod means that the crawler's operator documents no method to check
	// the claim, or that all documented methods are off.
	NoMethod State = iota
	// Unverified means that the claim is neither confirmed nor refuted. A
	// Reason says why.
	Unverified
	// Verified means that a method confirmed the claim.
	Verified
	// Impostor means that every documented list of addresses, and the reverse
	// DNS if it is documented, refuted the claim with fresh data, and that a
	// Proof shows that the server sees the real addresses of clients. Signatures
	// don't count here: they never refute a claim.
	Impostor
)

var stateNames = [...]string{NoMethod: "none", Unverified: "unverified", Verified: "verified", Impostor: "impostor"}

// String returns none, unverified, verified or impostor.
func (s State) String() string { return stateNames[min(s, Impostor)] }

// MarshalText returns what String returns.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (s *State) UnmarshalText(text []byte) error {
	i := slices.Index(stateNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("no claim is %q", text)
	}
	*s = State(i)
	return nil
}

// Method is a method to check a claim.
type Method uint8

// The methods.
const (
	noMethod        Method = iota // no method
	ListMethod                    // a published list of addresses
	DNSMethod                     // forward-confirmed reverse DNS
	SignatureMethod               // Web Bot Auth
)

var methodNames = [...]string{noMethod: "none", ListMethod: "list", DNSMethod: "dns", SignatureMethod: "signature"}

// String returns none, list, dns or signature.
func (m Method) String() string { return methodNames[min(m, SignatureMethod)] }

// Reason is why a claim is unverified, as logs and placeholders write it.
type Reason string

// The reasons.
const (
	NoReason Reason = ""
	// the client's address is not valid, or is private, shared (CGNAT), loopback, link-local, multicast or reserved
	AddressSpecial   Reason = "address_special"
	AddressAmbiguous Reason = "address_ambiguous" // the address may not be the client's own (see Client.Ambiguous)
	LookupPending    Reason = "lookup_pending"    // the DNS lookup has not finished yet
	LookupFailed     Reason = "lookup_failed"     // DNS failed, or has no addresses for a host name with a documented suffix
	ListMissing      Reason = "list_missing"      // a list could not be read yet
	ListOld          Reason = "list_old"          // the last successful read of a list was more than 3 days ago
	MethodOff        Reason = "method_off"        // a documented method is off
	// no document of the crawler's operator confirms the facts, so they can't refute a claim
	FactsUnconfirmed Reason = "facts_unconfirmed"
	// the address refutes the claim as for Impostor, but no crawler was verified by its address in the last 24 hours (see Proof)
	Unproven         Reason = "unproven"
	OtherVerified    Reason = "other_verified"    // the User-Agent also names another crawler, which is verified
	SignatureMissing Reason = "signature_missing" // only a signature could confirm the claim, and the request has none
	// the signature fields can't be parsed, or a required parameter is absent or not valid
	SignatureMalformed Reason = "signature_malformed"
	// the signature fields or what a signature covers is longer than 16 KiB, has more than 1,024 parts, or more than 32 components
	SignatureTooLong Reason = "signature_too_long"
	// the signature covers neither @authority nor @target-uri, or not the Signature-Agent that it names
	SignatureNotCovered  Reason = "signature_not_covered"
	SignatureExpired     Reason = "signature_expired"     // `expires` is in the past
	SignatureFromFuture  Reason = "signature_from_future" // `created` is more than a minute in the future
	SignatureUnsupported Reason = "signature_unsupported" // the algorithm, a component or a covered body can't be checked
	DirectoryUnknown     Reason = "directory_unknown"     // neither the registry nor the configuration names the directory of the signature
	DirectoryMissing     Reason = "directory_missing"     // the directory could not be read yet
	KeyUnknown           Reason = "key_unknown"           // the directory does not have the key of the signature
	SignatureWrong       Reason = "signature_wrong"       // the signature does not match the request
	SignatureReplayed    Reason = "signature_replayed"    // the nonce of the signature was used before
)

// Result is the result of a check of a claim.
type Result struct {
	State  State
	Method Method // what confirmed the claim; noMethod unless State is Verified
	Reason Reason // why the claim is Unverified; NoReason otherwise
}
