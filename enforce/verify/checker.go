package verify

import (
	"context"
	"fmt"
	"hash/maphash"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gaissmai/bart"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
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
	doubt Reason
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
			if err := CheckSuffix(suffix); err != nil {
				return err
			}
		}
		s.names = c.verifier.lookups.set(facts.Hosts) // nil if there are too many sets: then DNS is not used
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
func (s *subject) initialDoubt() Reason {
	facts := &s.row.Verify
	switch {
	case len(facts.Ranges) == 0 && len(facts.Hosts) == 0:
		return SignatureMissing
	case slices.Contains(s.row.Unverified, "verify"):
		return FactsUnconfirmed
	case len(s.lists) < len(facts.Ranges), s.names == nil && len(facts.Hosts) > 0:
		return MethodOff
	}
	return NoReason
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
func (c *Checker) Address(row *crawler.Crawler, client Client, now time.Time) Result {
	s := c.subject(row)
	if s == nil {
		return Result{}
	}
	addr := client.Addr.Unmap().WithZone("")
	if IsSpecial(addr) {
		return Result{State: Unverified, Reason: AddressSpecial}
	}
	if client.Ambiguous {
		return Result{State: Unverified, Reason: AddressAmbiguous}
	}
	doubt := s.doubt
	for _, l := range s.lists {
		h := l.Copy()
		switch {
		case h == nil:
			doubt = ListMissing
		case h.Value.(*list).contains(addr):
			client.Proof.set(now)
			return Result{State: Verified, Method: ListMethod}
		case !fresh(h, now):
			doubt = ListOld
		}
	}
	if s.names != nil {
		answer, refresh := c.verifier.lookups.cache.get(c.verifier.lookups.cache.key(s.names.id, addr), now)
		if refresh {
			c.verifier.lookups.enqueue(s.names, addr)
		}
		switch answer {
		case confirmed:
			client.Proof.set(now)
			return Result{State: Verified, Method: DNSMethod}
		case noAnswer:
			doubt = LookupPending
		case failed:
			doubt = LookupFailed
		}
	}
	if doubt != NoReason {
		return Result{State: Unverified, Reason: doubt}
	}
	if !client.Proof.holds(now) {
		return Result{State: Unverified, Reason: Unproven}
	}
	return Result{State: Impostor}
}

// LookUp gets the data that Address needs to check whether addr is the crawler
// row: it reads lists that are missing or older than 6 hours, queries DNS, and
// waits for both, or until ctx ends. It returns true if the claim is confirmed, or if
// the methods that the row has answered: DNS, and at least one of its lists. It is for
// requests in log files, and works without Start.
func (c *Checker) LookUp(ctx context.Context, row *crawler.Crawler, addr netip.Addr) bool {
	s := c.subject(row)
	if addr = addr.Unmap().WithZone(""); s == nil || IsSpecial(addr) {
		return false
	}
	known := false
	for _, l := range s.lists {
		h, _ := l.Fetch(ctx, c.verifier.reader)
		if h == nil {
			continue
		}
		if known = true; h.Value.(*list).contains(addr) {
			return true
		}
	}
	if s.names == nil {
		return known
	}
	f := checkReverse(ctx, c.verifier.config.Resolver, addr, s.names.suffixes)
	if ctx.Err() != nil {
		return false
	}
	c.verifier.lookups.cache.put(c.verifier.lookups.cache.key(s.names.id, addr), f.answer, c.verifier.config.Now())
	return f.answer == confirmed || f.answer != failed && (known || len(s.lists) == 0)
}

// proofPeriod is how long a verified address proves that the server sees the real addresses of its clients.
const proofPeriod = 24 * time.Hour

// Client is the sender of a request, as the server sees it.
type Client struct {
	Addr netip.Addr // IPv4 in IPv6 form counts as IPv4; a zone is ignored

	// Ambiguous is true if Addr may not be the client's own address: it may be
	// the address of a proxy, or one that the client wrote to a forwarding field.
	// Such an address neither verifies nor refutes a claim.
	Ambiguous bool

	// Proof is the Proof of the host that serves the request (see
	// Checker.Proof). If it is nil, no client is an Impostor.
	Proof *Proof
}

// Proof records when a crawler was last verified by its address, which proves
// that the server sees the addresses of its clients. Without such a proof it may
// see the addresses of a CDN instead, so an address must not refute a claim. The
// zero value is ready to use: no crawler was verified. A Proof is safe for
// concurrent use.
type Proof struct {
	last atomic.Int64 // seconds since 1970
}

func (p *Proof) set(now time.Time) {
	// Storing an equal value would make all CPU cores fetch the cache line again.
	if s := now.Unix(); p != nil && p.last.Load() != s {
		p.last.Store(s)
	}
}

// holds reports whether a crawler was verified by its address in the 24 hours
// before now.
func (p *Proof) holds(now time.Time) bool {
	return p != nil && p.last.Load() != 0 && now.Sub(time.Unix(p.last.Load(), 0)).Abs() <= proofPeriod
}

// maxProofs is the number of hosts that have proofs of their own.
const maxProofs = 20_000

// Proof returns the Proof of the host that a request is for.
// proxied is whether the request came through a trusted proxy. Each combination
// has its own Proof, because sites of one server may be behind different proxies.
// Checkers of one Verifier share them. If there are more than 20,000, some are
// forgotten, those with the oldest verification first.
func (c *Checker) Proof(host string, proxied bool) *Proof {
	key := maphash.String(c.verifier.lookups.cache.seed, host)
	if proxied {
		key = ^key
	}
	return c.verifier.proofs.Add(key, func(p *Proof) int64 { return p.last.Load() }, nil)
}

// specialPrefixes are the addresses that no crawler on the internet has: unspecified, private, shared (CGNAT), loopback, link-local,
// multicast and reserved addresses (IANA special-purpose address registries), but not the blocks for documentation.
var specialPrefixes = newTable("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.168.0.0/16",
	"224.0.0.0/3", "::/8", "fc00::/7", "fe80::/9", "ff00::/8")

func newTable(prefixes ...string) *bart.Lite {
	table := new(bart.Lite)
	for _, p := range prefixes {
		table.Insert(netip.MustParsePrefix(p))
	}
	return table
}

// IsSpecial reports whether addr is not valid, or an address that no client on
// the internet has: private, shared (100.64.0.0/10), loopback, link-local,
// multicast, reserved or unspecified. addr must not be IPv4 in IPv6 form.
func IsSpecial(addr netip.Addr) bool {
	if !addr.Is4() {
		b := addr.As16()
		return !addr.IsValid() || b[0] == 0 || b[0]&0xfe == 0xfc || b[0] == 0xfe && b[1]&0x80 != 0 || b[0] == 0xff
	}
	b := addr.As4()
	shared := b[0] == 100 && b[1]&0xc0 == 64
	return shared || b[0] == 0 || b[0] >= 224 || addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast()
}
