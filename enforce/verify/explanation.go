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
	Method string `json:"method"`
	Asked  string `json:"asked"`  // the URL of a list or directory, or the query to DNS
	Answer string `json:"answer"` // the result, as a text for people
	Says   string `json:"says"`   // verified: the step confirms the claim. impostor: it refutes it. unverified: neither
}

// newStep returns a step that neither confirms nor refutes a claim.
func newStep(method claim.Method, asked string) Step {
	return Step{Method: method.String(), Asked: asked, Says: claim.Unverified.String()}
}

// Explanation is the result of a check of a claim, with its steps.
type Explanation struct {
	Address string `json:"address"`
	Crawler string `json:"crawler"`
	State   string `json:"state"`
	Method  string `json:"method,omitempty"` // the method that confirmed the address
	Reason  string `json:"reason,omitempty"` // why it is unverified
	Steps   []Step `json:"steps,omitempty"`
}

// Explain checks by all methods whether addr is the crawler row, and returns the result of each. Unlike [Checker.Address], it reads lists
// and directories and queries DNS itself, and waits for them. It can return impostor at a host where no crawler was verified; Address
// can't. If row has no method, the Explanation has no steps, and its state is that of NoMethod.
func (c *Checker) Explain(ctx context.Context, row *crawler.Crawler, addr netip.Addr) Explanation {
	addr = addr.Unmap().WithZone("")
	e := Explanation{Address: addr.String(), Crawler: row.Name}
	if s := c.subject(row); s != nil && !netaddr.IsSpecial(addr) {
		for _, l := range s.lists {
			e.Steps = append(e.Steps, c.explainList(ctx, l, addr))
		}
		if s.names != nil {
			e.Steps = append(e.Steps, c.explainDNS(ctx, s.names, addr))
		}
		for _, a := range s.agents {
			e.Steps = append(e.Steps, c.explainDirectory(ctx, a))
		}
	}
	client, now := claim.Client{Addr: addr, Proof: new(claim.Proof)}, c.verifier.config.Now()
	client.Proof.Set(now)
	result := c.Address(row, client, now)
	e.State, e.Reason = result.State.String(), string(result.Reason)
	if result.State == claim.Verified {
		e.Method = result.Method.String()
	}
	return e
}

func (c *Checker) explainList(ctx context.Context, l *source, addr netip.Addr) Step {
	step := newStep(claim.ListMethod, l.URL)
	h, err := l.Fetch(ctx, c.verifier.reader)
	if h == nil {
		step.Answer = fmt.Sprintf("the list can't be read: %v", err)
		return step
	}
	now := c.verifier.config.Now()
	age := now.Sub(h.Read()).Round(time.Minute)
	where := fmt.Sprintf("%s, read %s ago", words.Plural(h.Value.entries(), "prefix", "prefixes"), age)
	if err != nil {
		where += fmt.Sprintf("; the last read failed: %v", err)
	}
	switch {
	case h.Value.(*list).contains(addr):
		step.Says, step.Answer = claim.Verified.String(), "the address is in the list ("+where+")"
	case !fresh(h, now):
		step.Answer = "the address is not in the list, but the list is too old to refute a claim (" + where + ")"
	default:
		step.Says, step.Answer = claim.Impostor.String(), "the address is not in the list ("+where+")"
	}
	return step
}

func (c *Checker) explainDNS(ctx context.Context, set *suffixSet, addr netip.Addr) Step {
	step := newStep(claim.DNSMethod, fmt.Sprintf("host name of %s under %s", addr, strings.Join(set.suffixes, " or ")))
	f := c.reverse(ctx, set, addr)
	step.Says = states[f.answer].String()
	names := ""
	if len(f.names) > 0 {
		names = "host name " + strings.Join(f.names, ", ")
	}
	switch f.answer {
	case confirmed:
		step.Answer = fmt.Sprintf("host name %s, which resolves to the address", f.confirmedName)
	case refuted:
		step.Answer = cmp.Or(names, "the address has no host name")
		if f.forgedName != "" {
			step.Answer += "; " + f.forgedName + " has other addresses only"
		}
	default:
		step.Answer = f.err.Error()
		if names != "" {
			step.Answer = names + ": " + step.Answer
		}
	}
	return step
}

func (c *Checker) explainDirectory(ctx context.Context, a *agent) Step {
	step := newStep(claim.SignatureMethod, a.source.URL)
	h, err := a.source.Fetch(ctx, c.verifier.reader)
	if h == nil {
		step.Answer = fmt.Sprintf("the directory can't be read: %v", err)
		return step
	}
	step.Answer = words.Plural(h.Value.entries(), "key", "keys") + "; signatures are in requests, so an address alone can't be checked"
	return step
}

// LookUp gets the data that Address needs to check whether addr is the crawler
// row: it reads lists that are missing or older than 6 hours, queries DNS, and
// waits for both, or until ctx ends. It returns true if the claim is confirmed, or if
// the methods that the row has answered: DNS, and at least one of its lists. It is for
// requests in log files, and works without Start.
func (c *Checker) LookUp(ctx context.Context, row *crawler.Crawler, addr netip.Addr) bool {
	s := c.subject(row)
	addr = addr.Unmap().WithZone("")
	if s == nil || netaddr.IsSpecial(addr) {
		return false
	}
	known := false
	for _, l := range s.lists {
		h, _ := l.Fetch(ctx, c.verifier.reader)
		if h != nil && h.Value.(*list).contains(addr) {
			return true
		}
		known = known || h != nil
	}
	if s.names == nil {
		return known
	}
	answer := c.reverse(ctx, s.names, addr).answer
	return answer == confirmed || answer == refuted && (known || len(s.lists) == 0)
}

// reverse queries DNS and stores the answer.
func (c *Checker) reverse(ctx context.Context, set *suffixSet, addr netip.Addr) finding {
	f := checkReverse(ctx, c.verifier.config.Resolver, addr, set.suffixes)
	if ctx.Err() == nil {
		c.verifier.answers.put(c.verifier.answers.key(set.id, addr), f.answer, c.verifier.config.Now())
	}
	return f
}
