package enforce

import (
	"net/netip"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// Verification says how the engine checks the claims of crawlers.
type Verification struct {
	// Checker checks the claims. It must be made for Settings.Registry. The caller
	// closes it after the engine.
	Checker *verify.Checker
	// IgnoreImpostors treats impostors like unverified crawlers, except that
	// they have a separate budget. Without it, impostors are denied every path.
	IgnoreImpostors bool
}

// evidence is what is known about a client from its request, in addition to the
// User-Agent.
type evidence struct {
	addr      netip.Addr
	ambiguous bool // see Request.Ambiguous
	// claims are the results of verification, one for each crawler of an
	// Identity, in its order.
	claims [crawler.MaxAgents]verify.Result
}

// claim returns the result of verification for crawler i. ev may be nil.
func (ev *evidence) claim(i int) verify.Result {
	if ev == nil {
		return verify.Result{}
	}
	return ev.claims[i]
}

// Signed has the signature fields of a request. All handlers of one request
// share it, so that the same signature is checked only once: a second check
// would take it for a replay.
type Signed struct {
	verify.Message
	name   string // of the crawler that the signature proves
	result verify.Result
}

// row returns the crawler that a signature of the request proves, or nil. claim
// is the crawler that the User-Agent names.
func (s *Signed) row(v *Verification, registry *crawler.Registry, claim *crawler.Crawler, r *Request) *crawler.Crawler {
	if s.result.State == verify.Verified {
		return registry.Lookup(s.name)
	}
	row, result := v.Checker.Signature(&s.Message, claim, r.Time)
	if s.result = result; row != nil {
		s.name = row.Name
	}
	return row
}

// fill sets ev from a request, except for the claims.
func (r *compiledSettings) fill(req *Request, ev *evidence) {
	if req.Client != "" { // for "", ParseAddr would allocate an error
		ev.addr, _ = netip.ParseAddr(req.Client)
	}
	ev.ambiguous = req.Ambiguous
}

// addClaims sets ev.claims for the crawlers that a User-Agent field names.
// signer is the crawler that a signature proves, or nil. With a signer, no
// crawler is called an impostor.
func (r *compiledSettings) addClaims(req *Request, agents []crawler.Agent, signer *crawler.Crawler, ev *evidence) {
	if r.Verification == nil {
		return
	}
	checker := r.Verification.Checker
	addr := ev.addr
	if req.Assumed {
		addr = netip.Addr{}
	}
	var proof *verify.Proof
	verified, impostor := false, false
	for i := range agents {
		row := agents[i].Crawler
		switch {
		case row != nil && row == signer:
			ev.claims[i] = verify.Result{State: verify.Verified, Method: verify.SignatureMethod}
			verified = true
			continue
		case !checker.Verifiable(row):
			ev.claims[i] = verify.Result{}
			continue
		case proof == nil && signer == nil:
			proof = checker.Proof(req.place(), req.Proxied)
		}
		claim := checker.Address(row, verify.Client{Addr: addr, Ambiguous: req.Ambiguous, Proof: proof}, req.Time)
		if claim.Reason == verify.SignatureMissing && req.Signed != nil && req.Signed.result.Reason != verify.NoReason {
			claim.Reason = req.Signed.result.Reason
		}
		ev.claims[i] = claim
		verified = verified || claim.State == verify.Verified
		impostor = impostor || claim.State == verify.Impostor
	}
	for i := range agents {
		// A client that is one of the crawlers in its User-Agent is not an
		// impostor of the others.
		if verified && impostor && ev.claims[i].State == verify.Impostor {
			ev.claims[i] = verify.Result{State: verify.Unverified, Reason: verify.OtherVerified}
		}
	}
}

// place identifies the site that serves a request: by the host, or by the
// pattern of hosts if the host is invented.
func (r *Request) place() string {
	if r.Invented {
		return r.Site
	}
	return r.Origin.Host
}

// names reports whether a User-Agent names a crawler.
func names(id *crawler.Identity, row *crawler.Crawler) bool {
	for i := range id.Len() {
		if id.At(i).Crawler == row {
			return true
		}
	}
	return false
}

// signedAgent returns a crawler of the registry as an agent that no User-Agent
// names, such as one that a signature proves.
func signedAgent(row *crawler.Crawler) crawler.Agent {
	a := crawler.Agent{Class: row.Class, Crawler: row, Token: row.Name}
	if tokens := row.Tokens(); len(tokens) > 0 {
		a.Token = tokens[0]
	}
	return a
}
