package verify

import (
	"fmt"
	"hash/maphash"
	"net/netip"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/netaddr"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Checker checks claims to be the crawlers of one registry. It is safe for concurrent use.
type Checker struct {
	verifier *Verifier
	registry *crawler.Registry
	subjects []*subject        // by a crawler's index in the registry; nil if no method is on for the crawler
	agents   map[string]*agent // by the URL of the directory
	sources  []*source         // to release, once for each crawler that uses it
	uses     int               // calls of Bind without their Close; guarded by verifier.binding
}

// subject has the methods by which claims to be one crawler are checked.
type subject struct {
	row    *crawler.Crawler
	lists  []*source
	names  *suffixSet // nil: DNS is not used
	agents []*agent

	// doubt is why the client's address can't refute a claim. It is NoReason if every documented method by address is on and a document
	// confirms the facts.
	doubt claim.Reason
}

// Bind returns the Checker for the crawlers of registry. Checkers of one Verifier share lists, directories and DNS answers, so each
// document is read once. An error names the crawler and the fact that is not valid. The caller must close the Checker once for each call of
// Bind.
func (v *Verifier) Bind(registry *crawler.Registry) (*Checker, error) {
	v.binding.Lock()
	defer v.binding.Unlock()
	if c := v.checkers[registry]; c != nil {
		c.uses++
		return c, nil
	}
	c := &Checker{verifier: v, registry: registry, subjects: make([]*subject, registry.Len()), agents: make(map[string]*agent), uses: 1}
	for row := range registry.All() {
		s := &subject{row: row}
		if err := c.fill(s); err != nil {
			c.release()
			return nil, fmt.Errorf("crawler %q: verify: %w", row.Name, err)
		}
		if len(s.lists) > 0 || s.names != nil || len(s.agents) > 0 {
			c.subjects[row.Index()] = s
		}
	}
	v.checkers[registry] = c
	return c, nil
}

// Close ends the use of a Checker that Bind has returned. The last Close ends the
// reads of lists and directories that no other Checker uses. The Checker can still
// check claims, with the data that it has.
func (c *Checker) Close() {
	c.verifier.binding.Lock()
	defer c.verifier.binding.Unlock()
	if c.uses--; c.uses == 0 {
		delete(c.verifier.checkers, c.registry)
		c.release()
	}
}

func (c *Checker) release() {
	for _, s := range c.sources {
		c.verifier.release(s)
	}
}

// fill adds to s the methods that are documented and on.
func (c *Checker) fill(s *subject) error {
	facts, on := &s.row.Verify, &c.verifier.config
	if on.Lists {
		for _, address := range facts.Ranges {
			l, err := c.verifier.list(address)
			if err != nil {
				return err
			}
			s.lists, c.sources = append(s.lists, l), append(c.sources, l)
		}
	}
	if on.DNS && len(facts.Hosts) > 0 {
		if len(facts.Hosts) > maxSuffixes {
			return fmt.Errorf("%d host suffixes: the limit is %d", len(facts.Hosts), maxSuffixes)
		}
		for _, suffix := range facts.Hosts {
			if err := crawler.CheckSuffix(suffix); err != nil {
				return err
			}
		}
		s.names = c.verifier.suffixSet(facts.Hosts) // nil if there are too many sets: then DNS is not used
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
	s.doubt = s.initialDoubt()
	return nil
}

// agent returns the agent with the directory at address. All crawlers with that directory share it.
func (c *Checker) agent(address string) (*agent, error) {
	source, err := c.verifier.directory(address)
	if err != nil {
		return nil, err
	}
	c.sources = append(c.sources, source)
	a := c.agents[source.URL]
	if a == nil {
		a = &agent{source: source}
		c.agents[source.URL] = a
	}
	return a, nil
}

// initialDoubt returns why no address can refute a claim to be the crawler; NoReason if one can. A signature never refutes a claim, so the
// crawler must have a list or a host suffix.
func (s *subject) initialDoubt() claim.Reason {
	facts := &s.row.Verify
	switch {
	case len(facts.Ranges) == 0 && len(facts.Hosts) == 0:
		return claim.SignatureMissing
	case slices.Contains(s.row.Unverified, "verify"):
		return claim.FactsUnconfirmed
	case len(s.lists) < len(facts.Ranges), s.names == nil && len(facts.Hosts) > 0:
		return claim.MethodOff
	}
	return claim.NoReason
}

// subject returns the methods for row; nil if there are none or row is of another registry.
func (c *Checker) subject(row *crawler.Crawler) *subject {
	if row == nil || row.Index() >= len(c.subjects) {
		return nil
	}
	if s := c.subjects[row.Index()]; s != nil && s.row == row {
		return s
	}
	return nil
}

// Verifiable reports whether a claim to be row can be checked: whether a
// documented method is on. If so, Address never returns the state NoMethod.
func (c *Checker) Verifiable(row *crawler.Crawler) bool { return c.subject(row) != nil }

// Address checks by the client's address whether client is the crawler row. It
// uses the lists and DNS answers that are available now, and never waits. If a
// DNS answer is missing, it starts a lookup in the background, for the next
// request. A DNS answer is used for 24 hours if it confirms a claim, for one hour
// if it refutes one, and for five minutes if the lookup failed. Address allocates
// nothing unless it starts a lookup.
func (c *Checker) Address(row *crawler.Crawler, client claim.Client, now time.Time) claim.Result {
	s := c.subject(row)
	if s == nil {
		return claim.Result{}
	}
	addr := client.Addr.Unmap().WithZone("")
	if netaddr.IsSpecial(addr) {
		return claim.Result{State: claim.Unverified, Reason: claim.AddressSpecial}
	}
	if client.Ambiguous {
		return claim.Result{State: claim.Unverified, Reason: claim.AddressAmbiguous}
	}
	doubt := s.doubt
	for _, l := range s.lists {
		h := l.Copy()
		switch {
		case h == nil:
			doubt = claim.ListMissing
		case h.Value.(*list).contains(addr):
			client.Proof.Set(now)
			return claim.Result{State: claim.Verified, Method: claim.ListMethod}
		case !fresh(h, now):
			doubt = claim.ListOld
		}
	}
	if s.names != nil {
		answer, refresh := c.verifier.answers.get(c.verifier.answers.key(s.names.id, addr), now)
		if refresh {
			c.verifier.enqueue(s.names, addr, now)
		}
		switch answer {
		case confirmed:
			client.Proof.Set(now)
			return claim.Result{State: claim.Verified, Method: claim.DNSMethod}
		case noAnswer:
			doubt = claim.LookupPending
		case failed:
			doubt = claim.LookupFailed
		}
	}
	if doubt != claim.NoReason {
		return claim.Result{State: claim.Unverified, Reason: doubt}
	}
	if !client.Proof.Holds(now) {
		return claim.Result{State: claim.Unverified, Reason: claim.Unproven}
	}
	return claim.Result{State: claim.Impostor}
}

// maxProofs is the number of hosts that have proofs of their own.
const maxProofs = 20_000

// Proof returns the Proof of the host that a request is for.
// proxied is whether the request came through a trusted proxy. Each combination
// has its own Proof, because sites of one server may be behind different proxies.
// Checkers of one Verifier share them. If there are more than 20,000, some are
// forgotten, those with the oldest verification first.
func (c *Checker) Proof(host string, proxied bool) *claim.Proof {
	key := maphash.String(c.verifier.answers.seed, host)
	if proxied {
		key = ^key
	}
	return c.verifier.proofs.Add(key, (*claim.Proof).Last, nil)
}

// specialPrefixes are the addresses that no crawler on the internet has: unspecified, private, shared (CGNAT), loopback, link-local,
// multicast and reserved addresses (IANA special-purpose address registries), but not the blocks for documentation.
var specialPrefixes = words.Map([]string{"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.168.0.0/16",
	"224.0.0.0/3", "::/8", "fc00::/7", "fe80::/9", "ff00::/8"}, netip.MustParsePrefix)
