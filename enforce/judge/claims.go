package judge

import (
	"net/netip"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
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
	who := claim.Client{Addr: c.addr, Ambiguous: c.request.Ambiguous}
	if c.request.Assumed {
		who.Addr = netip.Addr{}
	}
	verified, impostor := false, false
	for i := range agents {
		c.claims[i] = c.checkClaim(agents[i].Crawler, &who)
		verified = verified || c.claims[i].State == claim.Verified
		impostor = impostor || c.claims[i].State == claim.Impostor
	}
	if !verified || !impostor {
		return
	}
	for i := range agents {
		// A client that is one of the crawlers in its User-Agent is not an
		// impostor of the others.
		if c.claims[i].State == claim.Impostor {
			c.claims[i] = claim.Result{State: claim.Unverified, Reason: claim.OtherVerified}
		}
	}
}

// checkClaim returns the result of verification for a crawler.
func (c *Client) checkClaim(row *crawler.Crawler, who *claim.Client) claim.Result {
	r, checker := c.request, c.verification.Checker
	if row != nil && row == c.signer {
		c.unnamed = false
		return claim.Result{State: claim.Verified, Method: claim.SignatureMethod}
	}
	if !checker.Verifiable(row) {
		return claim.Result{}
	}
	if who.Proof == nil && c.signer == nil {
		who.Proof = checker.Proof(r.Origin.Host, r.Proxied)
	}
	result := checker.Address(row, *who, r.Time)
	// A signature that is not valid refutes nothing, but is the better explanation.
	if result.State == claim.Unverified && r.signature.Reason != claim.NoReason {
		result.Reason = r.signature.Reason
	}
	return result
}
