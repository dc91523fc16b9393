package verify

import (
	"fmt"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// Checker checks claims to be the crawlers of one registry. It is safe for concurrent use.
type Checker struct {
	verifier *Verifier
	registry *crawler.Registry
	subjects []*subject        // by a crawler's index in the registry; nil where no method is on
	agents   map[string]*agent // by the address of the directory
}

// subject is how claims to be one crawler are checked.
type subject struct {
	row    *crawler.Crawler
	lists  []*source[*list]
	names  *suffixSet // nil: not by DNS
	agents []*agent

	// refutable is that each documented method by address can be run, and that documents confirm the facts. hold says why it is not.
	refutable bool
	hold      Reason
}

// Bind returns a Checker for the crawlers of registry. Lists and directories that other registries name too are read once. An error names
// the crawler and the fact that can't be used.
func (v *Verifier) Bind(registry *crawler.Registry) (*Checker, error) {
	c := &Checker{verifier: v, registry: registry, subjects: make([]*subject, registry.Len()), agents: make(map[string]*agent)}
	for row := range registry.All() {
		s := &subject{row: row}
		c.subjects[row.Index()] = s
		if err := c.fill(s); err != nil {
			c.Close()
			return nil, fmt.Errorf("crawler %q: verify: %w", row.Name, err)
		}
		if len(s.lists) == 0 && s.names == nil && len(s.agents) == 0 {
			c.subjects[row.Index()] = nil
		}
	}
	return c, nil
}

// Close releases the lists and directories that no other Checker uses, so that
// they are no longer read. Claims are still judged, by the data at hand. Call
// it once.
func (c *Checker) Close() {
	for _, s := range c.subjects {
		if s == nil {
			continue
		}
		for _, l := range s.lists {
			release(c.verifier, c.verifier.lists, l)
		}
		for _, a := range s.agents {
			release(c.verifier, c.verifier.directories, a.source)
		}
	}
}

// fill adds the methods that are on.
func (c *Checker) fill(s *subject) error {
	facts, on := &s.row.Verify, &c.verifier.config
	if on.Lists {
		for _, address := range facts.Ranges {
			l, err := c.verifier.list(address)
			if err != nil {
				return err
			}
			s.lists = append(s.lists, l)
		}
	}
	if on.DNS && len(facts.Hosts) > 0 {
		if len(facts.Hosts) > maxSuffixes {
			return fmt.Errorf("more than %d suffixes", maxSuffixes)
		}
		for _, suffix := range facts.Hosts {
			if err := CheckSuffix(suffix); err != nil {
				return err
			}
		}
		if s.names = c.verifier.lookups.set(facts.Hosts); s.names == nil {
			return fmt.Errorf("more than %d different sets of suffixes", maxSuffixSets)
		}
	}
	if on.Signatures {
		for _, address := range facts.SignatureAgents {
			a, err := c.agent(address)
			if err != nil {
				return err
			}
			a.rows = append(a.rows, s.row)
			s.agents = append(s.agents, a)
		}
	}
	s.refutable, s.hold = s.canRefute()
	return nil
}

func (c *Checker) agent(address string) (*agent, error) {
	source, err := c.verifier.directory(address)
	if err != nil {
		return nil, err
	}
	a := c.agents[source.address]
	if a == nil {
		a = &agent{source: source}
		c.agents[source.address] = a
	}
	return a, nil
}

// canRefute reports whether a claim to be the crawler can be refuted at all, and why not. A signature refutes nothing, so a crawler must have
// a list or a suffix; autonomous systems are documented for some, and are not looked up.
func (s *subject) canRefute() (bool, Reason) {
	facts := &s.row.Verify
	switch {
	case len(facts.Ranges) == 0 && len(facts.Hosts) == 0:
		return false, SignatureMissing
	case slices.Contains(s.row.Unverified, "verify"):
		return false, FactsUnconfirmed
	case len(facts.ASN) > 0, len(s.lists) < len(facts.Ranges), s.names == nil && len(facts.Hosts) > 0:
		return false, MethodOff
	}
	return true, NoReason
}

func (c *Checker) subject(row *crawler.Crawler) *subject {
	if row == nil || row.Index() >= len(c.subjects) {
		return nil
	}
	if s := c.subjects[row.Index()]; s != nil && s.row == row {
		return s
	}
	return nil
}

// Verifiable reports whether a claim to be row can be checked. If so, the State
// of a claim is never NoMethod.
func (c *Checker) Verifiable(row *crawler.Crawler) bool { return c.subject(row) != nil }

// Address checks by its address whether client is the crawler row, with the
// data that is available now. Missing data is looked up in the background, for
// the next request. It allocates nothing.
func (c *Checker) Address(row *crawler.Crawler, client Client, now time.Time) Result {
	s := c.subject(row)
	if s == nil {
		return Result{}
	}
	addr := client.Addr.Unmap().WithZone("")
	if special(addr) {
		return Result{State: Unverified, Reason: AddressSpecial}
	}
	if client.Ambiguous {
		return Result{State: Unverified, Reason: AddressAmbiguous}
	}
	doubt := s.hold
	for _, l := range s.lists {
		h := l.current.Load()
		switch {
		case h == nil:
			doubt = ListMissing
		case h.value.contains(addr):
			client.Proof.set(now)
			return Result{State: Verified, Method: ListMethod}
		case !h.fresh(now):
			doubt = ListOld
		}
	}
	if s.names != nil {
		a, again := c.verifier.lookups.cache.get(makeKey(s.names.id, addr), now)
		if again {
			c.verifier.lookups.ask(s.names, addr)
		}
		switch a {
		case yes:
			client.Proof.set(now)
			return Result{State: Verified, Method: DNSMethod}
		case unknown:
			doubt = LookupPending
		case failed:
			doubt = LookupFailed
		}
	}
	if !s.refutable || doubt != NoReason {
		return Result{State: Unverified, Reason: doubt}
	}
	if !client.Proof.Holds(now) {
		return Result{State: Unverified, Reason: Unproven}
	}
	return Result{State: Impostor}
}
