package enforce

import (
	"net/netip"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// Verification tells how the claims of crawlers are checked.
type Verification struct {
	// Checker is made for Rules.Registry. The caller closes it, after the
	// engine.
	Checker *verify.Checker
	// IgnoreImpostors treats impostors as crawlers that could not be verified,
	// with a separate budget. Otherwise they are denied everything.
	IgnoreImpostors bool
}

// Evidence is what a request shows about its sender, in addition to its
// User-Agent.
type Evidence struct {
	Addr      netip.Addr
	Ambiguous bool // as in Request
	// Claims is what verification says about each crawler of an Identity.
	Claims [crawler.MaxAgents]verify.Result
}

// claim returns what verification says about the crawler i; nothing without
// evidence.
func (ev *Evidence) claim(i int) verify.Result {
	if ev == nil {
		return verify.Result{}
	}
	return ev.Claims[i]
}

// Signed is a request with signature fields. Handlers that follow each other
// on one request share it: the same signature counts once.
type Signed struct {
	verify.Message
	name   string // of the crawler that a signature proved
	result verify.Result
}

// row returns the crawler that a signature of the request proves, nil if none
// does. claim is whom the User-Agent names.
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

// fill makes ev that of a request, without claims.
func (r *compiledRules) fill(req *Request, ev *Evidence) {
	if req.Client != "" { // whose error would be allocated
		ev.Addr, _ = netip.ParseAddr(req.Client)
	}
	ev.Ambiguous = req.Ambiguous
}

// addClaims adds to ev what verification says about the crawlers that a
// User-Agent field names. signer is the crawler that a signature proves; then
// nobody is called an impostor.
func (r *compiledRules) addClaims(req *Request, agents []crawler.Agent, signer *crawler.Crawler, ev *Evidence) {
	if r.Verification == nil {
		return
	}
	checker := r.Verification.Checker
	var proof *verify.Proof
	verified, impostor := false, false
	for i := range agents {
		row := agents[i].Crawler
		switch {
		case row != nil && row == signer:
			ev.Claims[i] = verify.Result{State: verify.Verified, Method: verify.SignatureMethod}
			verified = true
			continue
		case !checker.Verifiable(row):
			ev.Claims[i] = verify.Result{}
			continue
		case proof == nil && signer == nil:
			proof = checker.Proof(req.place(), req.Proxied)
		}
		claim := checker.Address(row, verify.Client{Addr: ev.Addr, Ambiguous: req.Ambiguous, Proof: proof}, req.Time)
		if claim.Reason == verify.SignatureMissing && req.Signed != nil && req.Signed.result.Reason != verify.NoReason {
			claim.Reason = req.Signed.result.Reason
		}
		ev.Claims[i] = claim
		verified = verified || claim.State == verify.Verified
		impostor = impostor || claim.State == verify.Impostor
	}
	for i := range agents {
		// Who is one of the crawlers that it names does not pose as another.
		if verified && impostor && ev.Claims[i].State == verify.Impostor {
			ev.Claims[i] = verify.Result{State: verify.Unverified, Reason: verify.OtherVerified}
		}
	}
}

// place names the site that serves a request: the host, or the pattern of
// invented ones.
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

// signedAgent is the crawler that a signature proves, as an agent that the
// User-Agent does not name.
func signedAgent(row *crawler.Crawler) crawler.Agent {
	a := crawler.Agent{Class: row.Class, Crawler: row, Token: row.Name}
	if tokens := row.Tokens(); len(tokens) > 0 {
		a.Token = tokens[0]
	}
	return a
}
