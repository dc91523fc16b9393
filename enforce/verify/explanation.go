package verify

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/netaddr"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Step is one check of a claim by one method.
type Step struct {
	Method claim.Method
	Asked  string      // the URL of a list or directory, or the query to DNS
	Answer string      // the result, as a text for people
	State  claim.State // Verified: the step confirms the claim. Impostor: it refutes it. Unverified: neither
}

// Explanation is the result of a check of a claim, with its steps.
type Explanation struct {
	Crawler *crawler.Crawler
	Addr    netip.Addr
	Steps   []Step
	Result  claim.Result
}

// Explain checks by all methods whether addr is the crawler row, and returns the result of each. Unlike [Checker.Address], it reads lists
// and directories and queries DNS itself, and waits for them. It can return Impostor without a [Proof]; Address can't. If row has no
// method, the Explanation has no steps, and its state is NoMethod.
func (c *Checker) Explain(ctx context.Context, row *crawler.Crawler, addr netip.Addr) Explanation {
	e := Explanation{Crawler: row, Addr: addr.Unmap().WithZone("")}
	s := c.subject(row)
	if s == nil {
		return e
	}
	if netaddr.IsSpecial(e.Addr) {
		e.Result = claim.Result{State: claim.Unverified, Reason: claim.AddressSpecial}
		return e
	}
	doubt := s.doubt
	for _, l := range s.lists {
		doubt = cmp.Or(e.add(c.explainList(ctx, l, e.Addr)), doubt)
	}
	if s.names != nil {
		doubt = cmp.Or(e.add(c.explainDNS(ctx, s.names, e.Addr)), doubt)
	}
	for _, a := range s.agents {
		e.Steps = append(e.Steps, c.explainDirectory(ctx, a))
	}
	switch {
	case e.Result.State == claim.Verified:
	case doubt != claim.NoReason:
		e.Result = claim.Result{State: claim.Unverified, Reason: doubt}
	default:
		e.Result = claim.Result{State: claim.Impostor}
	}
	return e
}

// add appends a step. It returns why, the reason for which the step does not refute the claim.
func (e *Explanation) add(step Step, why claim.Reason) claim.Reason {
	e.Steps = append(e.Steps, step)
	if step.State == claim.Verified && e.Result.State != claim.Verified {
		e.Result = claim.Result{State: claim.Verified, Method: step.Method}
	}
	return why
}

func (c *Checker) explainList(ctx context.Context, l *source, addr netip.Addr) (Step, claim.Reason) {
	step := Step{Method: claim.ListMethod, Asked: l.URL, State: claim.Unverified}
	h, err := l.Fetch(ctx, c.verifier.reader)
	if h == nil {
		step.Answer = fmt.Sprintf("the list can't be read: %v", err)
		return step, claim.ListMissing
	}
	now := c.verifier.config.Now()
	age := now.Sub(h.Read()).Round(time.Minute)
	where := fmt.Sprintf("%s, read %s ago", words.Plural(h.Value.entries(), "prefix", "prefixes"), age)
	if err != nil {
		where += fmt.Sprintf("; the last read failed: %v", err)
	}
	switch {
	case h.Value.(*list).contains(addr):
		step.State, step.Answer = claim.Verified, "the address is in the list ("+where+")"
	case !fresh(h, now):
		step.Answer = "the address is not in the list, but the list is too old to refute a claim (" + where + ")"
		return step, claim.ListOld
	default:
		step.State, step.Answer = claim.Impostor, "the address is not in the list ("+where+")"
	}
	return step, claim.NoReason
}

func (c *Checker) explainDNS(ctx context.Context, set *suffixSet, addr netip.Addr) (Step, claim.Reason) {
	asked := fmt.Sprintf("host name of %s under %s", addr, strings.Join(set.suffixes, " or "))
	step := Step{Method: claim.DNSMethod, Asked: asked, State: claim.Unverified}
	f := checkReverse(ctx, c.verifier.config.Resolver, addr, set.suffixes)
	if ctx.Err() == nil {
		c.verifier.lookups.cache.put(c.verifier.lookups.cache.key(set.id, addr), f.answer, c.verifier.config.Now())
	}
	names := ""
	if len(f.names) > 0 {
		names = "host name " + strings.Join(f.names, ", ")
	}
	switch f.answer {
	case confirmed:
		step.State, step.Answer = claim.Verified, fmt.Sprintf("host name %s, which resolves to the address", f.confirmedName)
	case refuted:
		step.State, step.Answer = claim.Impostor, cmp.Or(names, "the address has no host name")
		if f.forgedName != "" {
			step.Answer += "; " + f.forgedName + " has other addresses only"
		}
	default:
		step.Answer = f.err.Error()
		if names != "" {
			step.Answer = names + ": " + step.Answer
		}
		return step, claim.LookupFailed
	}
	return step, claim.NoReason
}

func (c *Checker) explainDirectory(ctx context.Context, a *agent) Step {
	step := Step{Method: claim.SignatureMethod, Asked: a.source.URL, State: claim.Unverified}
	h, err := a.source.Fetch(ctx, c.verifier.reader)
	if h == nil {
		step.Answer = fmt.Sprintf("the directory can't be read: %v", err)
		return step
	}
	step.Answer = words.Plural(h.Value.entries(), "key", "keys") + "; signatures are in requests, so an address alone can't be checked"
	return step
}
