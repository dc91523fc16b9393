package enforce

import (
	"cmp"
	"net/netip"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// Claims has what is known about who sent a request. A second handler of the
// request gets a copy of what the first one found. So all handlers treat the
// client alike, and each signature is checked only once: a second check would
// take it for a replay.
type Claims struct {
	// Signed has the parts of the request that a signature can cover; nil if the
	// request has no signature.
	Signed *verify.Message

	verification *Verification // of the first handler that has one
	signature    verify.Result
	signer       string // the name of the crawler that the signature proves
	results      [crawler.MaxAgents]claimResult
	n            int               // the number of results
	limits       [MaxLimits]uint64 // those of Settings.Limits that the request was counted for: see block
}

// claimResult is the result of verification for a crawler of the registry.
type claimResult struct {
	row *crawler.Crawler
	verify.Result
}

// of returns the result for a crawler. Its registry may be an equal one of another
// handler.
func (k *Claims) of(row *crawler.Crawler) (result verify.Result, known bool) {
	if k == nil || row == nil {
		return result, false
	}
	for _, r := range k.results[:k.n] {
		if r.row == row || r.row.Name == row.Name {
			return r.Result, true
		}
	}
	return result, false
}

// add adds the result for a crawler, unless it is known or there is no room.
func (k *Claims) add(row *crawler.Crawler, result verify.Result) {
	if _, known := k.of(row); k == nil || row == nil || known || k.n == len(k.results) {
		return
	}
	k.results[k.n] = claimResult{row, result}
	k.n++
}

// useRules sets the rules for c. It prepares verification, by the settings of the
// first handler that has some, and finds the crawler that a signature proves.
func (c *client) useRules(rules *Rules) {
	settings, k := rules.settings, c.request.Claims
	c.rules, c.verification = rules, settings.Verification
	if k == nil {
		return
	}
	k.verification = cmp.Or(k.verification, settings.Verification)
	c.verification = cmp.Or(c.verification, k.verification)
	if k.Signed != nil && k.signature == (verify.Result{}) && c.verification != nil {
		k.signer, k.signature = c.checkSignature()
	}
	if k.signer != "" {
		c.signer = settings.Registry.Lookup(k.signer)
		c.unnamed = c.signer != nil
	}
}

// checkSignature checks the signature of the request. signer is the name of the
// crawler that it proves, or "".
func (c *client) checkSignature() (signer string, result verify.Result) {
	c.rules.identify(c.fields[0], &c.id)
	var claim *crawler.Crawler
	if c.id.Len() > 0 {
		claim = c.id.At(0).Crawler
	}
	row, result := c.verification.Checker.Signature(c.request.Claims.Signed, claim, c.request.Time)
	if row != nil {
		signer = row.Name
	}
	return signer, result
}

// verify sets c.claims for the crawlers of a User-Agent field. If a signature
// proves a crawler, no other crawler is called an impostor.
func (c *client) verify() {
	if c.rules.settings.usesAddr || c.verification != nil {
		c.addr = clientAddr(c.request)
	}
	if c.verification == nil {
		return
	}
	agents, known := c.id.Agents(), c.request.Claims
	who := verify.Client{Addr: c.addr, Ambiguous: c.request.Ambiguous}
	if c.request.Assumed {
		who.Addr = netip.Addr{}
	}
	verified, impostor := false, false
	for i := range agents {
		claim := &c.claims[i]
		*claim = c.checkClaim(agents[i].Crawler, &who)
		verified = verified || claim.State == verify.Verified
		impostor = impostor || claim.State == verify.Impostor
	}
	for i := range agents {
		// A client that is one of the crawlers in its User-Agent is not an
		// impostor of the others.
		if verified && impostor && c.claims[i].State == verify.Impostor {
			c.claims[i] = verify.Result{State: verify.Unverified, Reason: verify.OtherVerified}
		}
		known.add(agents[i].Crawler, c.claims[i])
	}
}

// checkClaim returns the result of verification for a crawler.
func (c *client) checkClaim(row *crawler.Crawler, who *verify.Client) verify.Result {
	r, checker := c.request, c.verification.Checker
	if row != nil && row == c.signer {
		c.unnamed = false
		return verify.Result{State: verify.Verified, Method: verify.SignatureMethod}
	}
	if result, known := r.Claims.of(row); known {
		return result
	}
	if !checker.Verifiable(row) {
		return verify.Result{}
	}
	if who.Proof == nil && c.signer == nil {
		who.Proof = checker.Proof(r.Origin.Host, r.Proxied)
	}
	result := checker.Address(row, *who, r.Time)
	if result.Reason == verify.SignatureMissing && r.Claims != nil && r.Claims.signature.Reason != verify.NoReason {
		result.Reason = r.Claims.signature.Reason
	}
	return result
}
