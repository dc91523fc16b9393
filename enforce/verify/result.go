package verify

// State says whether the claim to be a crawler is confirmed.
type State uint8

const (
	// NoMethod means that the crawler's operator documents no way to check the
	// claim, or that all of them are switched off.
	NoMethod State = iota
	// Unverified means that the claim is neither confirmed nor refuted. A
	// Reason says why.
	Unverified
	// Verified means that a method confirmed the claim.
	Verified
	// Impostor means that every documented method ran on fresh data and refuted
	// the claim, and that this server is known to see the real addresses of
	// clients.
	Impostor
)

var stateNames = [...]string{NoMethod: "none", Unverified: "unverified", Verified: "verified", Impostor: "impostor"}

// String returns none, unverified, verified or impostor.
func (s State) String() string { return name(stateNames[:], int(s)) }

// Method is a way to check a claim.
type Method uint8

const (
	NoneMethod      Method = iota
	ListMethod             // a published list of addresses
	DNSMethod              // forward-confirmed reverse DNS
	SignatureMethod        // Web Bot Auth
)

var methodNames = [...]string{NoneMethod: "none", ListMethod: "list", DNSMethod: "dns", SignatureMethod: "signature"}

// String returns none, list, dns or signature.
func (m Method) String() string { return name(methodNames[:], int(m)) }

// Reason says why a claim is unverified.
type Reason uint8

const (
	NoReason         Reason = iota
	AddressSpecial          // the client's address is empty, private, shared (CGNAT), loopback, link-local or multicast
	AddressAmbiguous        // the address is one of several in a field that a client can add to
	LookupPending           // DNS has not answered yet
	LookupFailed            // DNS failed, or a name with the right suffix does not lead back
	ListMissing             // a list was never read
	ListOld                 // a list was last read more than 3 days ago
	MethodOff               // a documented method is switched off or can't be run
	FactsUnconfirmed        // no document of the operator confirms the facts
	Unproven                // all methods refute the claim, but this server verified no crawler by its address in 24 hours
	OtherVerified           // the User-Agent names another crawler too, which is verified
	SignatureMissing        // only a signature could confirm the claim, and there is none
	SignatureMalformed
	SignatureTooLong
	SignatureNotCovered // the signature covers neither @authority nor @target-uri, or not the Signature-Agent that it names
	SignatureExpired
	SignatureFromFuture
	SignatureUnsupported // an algorithm, a component or a covered body that can't be checked
	DirectoryUnknown     // neither the registry nor the configuration names the directory
	DirectoryMissing     // the directory was never read
	KeyUnknown           // the directory has no such key
	SignatureWrong
	SignatureReplayed
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

// String returns the reason as one lower-case word, empty for NoReason.
func (r Reason) String() string { return name(reasonNames[:], int(r)) }

// Result is what verification says about one request.
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
