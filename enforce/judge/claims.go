package judge

import (
	"net/netip"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// verify sets c.claims for the crawlers of a User-Agent field. If a signature
// proves a crawler, no other crawler is called an impostor.
func (c *Client) verify() {
	if c.rules.settings.usesAddr || c.verification != nil {
		c.addr = c.request.Addr()
	}
	if c.verification == nil {
		return
	}
	agents := c.id.Agents()
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
	if !verified || !impostor {
		return
	}
	for i := range agents {
		// A client that is one of the crawlers in its User-Agent is not an
		// impostor of the others.
		if c.claims[i].State == verify.Impostor {
			c.claims[i] = verify.Result{State: verify.Unverified, Reason: verify.OtherVerified}
		}
	}
}

// checkClaim returns the result of verification for a crawler.
func (c *Client) checkClaim(row *crawler.Crawler, who *verify.Client) verify.Result {
	r, checker := c.request, c.verification.Checker
	if row != nil && row == c.signer {
		c.unnamed = false
		return verify.Result{State: verify.Verified, Method: verify.SignatureMethod}
	}
	if !checker.Verifiable(row) {
		return verify.Result{}
	}
	if who.Proof == nil && c.signer == nil {
		who.Proof = checker.Proof(r.Origin.Host, r.Proxied)
	}
	result := checker.Address(row, *who, r.Time)
	// A signature that is not valid refutes nothing, but is the better explanation.
	if result.State == verify.Unverified && r.signature.Reason != verify.NoReason {
		result.Reason = r.signature.Reason
	}
	return result
}
