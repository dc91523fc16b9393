package verify

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// Step is what one method found out.
type Step struct {
	Method Method
	Asked  string // the address of a list or directory, or the question to DNS
	Answer string // what came, in words
	State  State  // Verified: it confirms the claim. Impostor: it refutes it. Unverified: neither
}

// Explanation is how a claim is judged.
type Explanation struct {
	Crawler *crawler.Crawler
	Addr    netip.Addr
	Steps   []Step
	Result  Result
}

// Explain checks the claim of addr to be row by all methods and tells what each found out. Unlike Address it reads the lists and asks DNS
// itself, and waits for them. It ignores whether the server has verified a crawler before, a condition without which Address calls no
// client an impostor.
func (c *Checker) Explain(ctx context.Context, row *crawler.Crawler, addr netip.Addr) Explanation {
	e := Explanation{Crawler: row, Addr: addr.Unmap().WithZone("")}
	s := c.subject(row)
	if s == nil {
		return e
	}
	if special(e.Addr) {
		e.Result = Result{State: Unverified, Reason: AddressSpecial}
		return e
	}
	doubt := s.hold
	for _, l := range s.lists {
		step, why := c.explainList(ctx, l, e.Addr)
		doubt = e.add(step, why, doubt)
	}
	if s.names != nil {
		step, why := c.explainDNS(ctx, s.names, e.Addr)
		doubt = e.add(step, why, doubt)
	}
	for _, a := range s.agents {
		e.Steps = append(e.Steps, c.explainDirectory(ctx, a))
	}
	switch {
	case e.Result.State == Verified:
	case doubt != NoReason:
		e.Result = Result{State: Unverified, Reason: doubt}
	default:
		e.Result = Result{State: Impostor}
	}
	return e
}

// add appends a step and returns the doubt that remains.
func (e *Explanation) add(step Step, why, doubt Reason) Reason {
	e.Steps = append(e.Steps, step)
	if step.State == Verified && e.Result.State != Verified {
		e.Result = Result{State: Verified, Method: step.Method}
	}
	if why != NoReason {
		return why
	}
	return doubt
}

// current returns the copy in use, after reading the document where there is none or it is not from the last 6 hours.
func current[T content](ctx context.Context, s *source[T], env *environment) (*held[T], error) {
	s.restore(ctx, env)
	if h := s.current.Load(); h != nil && env.now().Sub(h.info.Read) < refreshInterval {
		return h, nil
	}
	err := s.read(ctx, env)
	return s.current.Load(), err
}

func (c *Checker) explainList(ctx context.Context, l *source[*list], addr netip.Addr) (Step, Reason) {
	step := Step{Method: ListMethod, Asked: l.address, State: Unverified}
	h, err := current(ctx, l, c.verifier.env)
	if h == nil {
		step.Answer = fmt.Sprintf("the list can't be read: %v", err)
		return step, ListMissing
	}
	now := c.verifier.config.Now()
	age := now.Sub(h.info.Read).Round(time.Minute)
	where := fmt.Sprintf("%d prefixes, read %s ago", h.value.count, age)
	if err != nil {
		where += fmt.Sprintf("; reading it again failed: %v", err)
	}
	switch {
	case h.value.contains(addr):
		step.State, step.Answer = Verified, "the address is in it ("+where+")"
	case !h.fresh(now):
		step.Answer = "the address is not in it, but the list is too old to tell (" + where + ")"
		return step, ListOld
	default:
		step.State, step.Answer = Impostor, "the address is not in it ("+where+")"
	}
	return step, NoReason
}

func (c *Checker) explainDNS(ctx context.Context, set *suffixSet, addr netip.Addr) (Step, Reason) {
	step := Step{Method: DNSMethod, Asked: fmt.Sprintf("name of %s in %s", addr, strings.Join(set.suffixes, " or ")), State: Unverified}
	f := checkReverse(ctx, c.verifier.config.Resolver, addr, set.suffixes)
	names := "no name"
	if len(f.names) > 0 {
		names = strings.Join(f.names, " ")
	}
	switch f.answer {
	case yes:
		step.State, step.Answer = Verified, fmt.Sprintf("%s, which leads back", f.via)
	case no:
		step.State, step.Answer = Impostor, names
	default:
		step.Answer = fmt.Sprintf("%s: %v", names, f.err)
		return step, LookupFailed
	}
	return step, NoReason
}

func (c *Checker) explainDirectory(ctx context.Context, a *agent) Step {
	step := Step{Method: SignatureMethod, Asked: a.source.address, State: Unverified}
	h, err := current(ctx, a.source, c.verifier.env)
	if h == nil {
		step.Answer = fmt.Sprintf("the directory can't be read: %v", err)
		return step
	}
	step.Answer = fmt.Sprintf("%d keys; only a request can be signed, an address can't", len(h.value.keys))
	return step
}
