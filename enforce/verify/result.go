package verify

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
func (s State) String() string { return name(stateNames[:], int(s)) }

// Method is a method to check a claim.
type Method uint8

// The methods.
const (
	NoneMethod      Method = iota // no method
	ListMethod                    // a published list of addresses
	DNSMethod                     // forward-confirmed reverse DNS
	SignatureMethod               // Web Bot Auth
)

var methodNames = [...]string{NoneMethod: "none", ListMethod: "list", DNSMethod: "dns", SignatureMethod: "signature"}

// String returns none, list, dns or signature.
func (m Method) String() string { return name(methodNames[:], int(m)) }

// Reason is why a claim is unverified.
type Reason uint8

// The reasons.
const (
	NoReason             Reason = iota
	AddressSpecial              // the client's address is not valid, or is private, shared (CGNAT), loopback, link-local, multicast or reserved
	AddressAmbiguous            // the address may not be the client's own (see Client.Ambiguous)
	LookupPending               // the DNS lookup has not finished yet
	LookupFailed                // DNS failed, or a host name with a documented suffix does not resolve to the address
	ListMissing                 // a list could not be read yet
	ListOld                     // the last successful read of a list was more than 3 days ago
	MethodOff                   // a documented method is off, or is not supported (autonomous systems)
	FactsUnconfirmed            // no document of the crawler's operator confirms the facts, so they can't refute a claim
	Unproven                    // the address refutes the claim as for Impostor, but no crawler was verified by its address in the last 24 hours (see Proof)
	OtherVerified               // the User-Agent also names another crawler, which is verified
	SignatureMissing            // only a signature could confirm the claim, and the request has none
	SignatureMalformed          // the signature fields can't be parsed, or a required parameter is absent or not valid
	SignatureTooLong            // the signature fields are longer than 8 KiB
	SignatureNotCovered         // the signature covers neither @authority nor @target-uri, or not the Signature-Agent that it names
	SignatureExpired            // `expires` is in the past
	SignatureFromFuture         // `created` is more than a minute in the future
	SignatureUnsupported        // the algorithm, a component or a covered body can't be checked
	DirectoryUnknown            // neither the registry nor the configuration names the directory of the signature
	DirectoryMissing            // the directory could not be read yet
	KeyUnknown                  // the directory does not have the key of the signature
	SignatureWrong              // the signature does not match the request
	SignatureReplayed           // the nonce of the signature was used before
)

var reasonNames = [...]string{
	NoReason: "", AddressSpecial: "address_special", AddressAmbiguous: "address_ambiguous", LookupPending: "lookup_pending",
	LookupFailed: "lookup_failed", ListMissing: "list_missing", ListOld: "list_old", MethodOff: "method_off",
	FactsUnconfirmed: "facts_unconfirmed", Unproven: "unproven", OtherVerified: "other_verified", SignatureMissing: "signature_missing",
	SignatureMalformed: "signature_malformed", SignatureTooLong: "signature_too_long", SignatureNotCovered: "signature_not_covered",
	SignatureExpired: "signature_expired", SignatureFromFuture: "signature_from_future", SignatureUnsupported: "signature_unsupported",
	DirectoryUnknown: "directory_unknown", DirectoryMissing: "directory_missing", KeyUnknown: "key_unknown",
	SignatureWrong: "signature_wrong", SignatureReplayed: "signature_replayed",
}

// String returns the reason in snake case, like lookup_failed; empty for NoReason.
func (r Reason) String() string { return name(reasonNames[:], int(r)) }

// Result is the result of a check of a claim.
type Result struct {
	State  State
	Method Method // what confirmed the claim; NoneMethod unless State is Verified
	Reason Reason // why the claim is Unverified; NoReason otherwise
}

func name(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return ""
}
