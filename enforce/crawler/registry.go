package crawler

import (
	_ "embed"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
)

// Crawler is one row of the registry. It is immutable once it is part of a [Registry].
type Crawler struct {
	Name     string // unique within a registry
	Operator string
	Purpose  Purpose
	Class    Class // Registered, UserTriggered, Offline, Webhook or Library
	RunBy    RunBy // whose machines it runs on

	// UserAgents holds the tokens by which it names itself, in any case. A token matches as whole words; a blank in it also matches `+`.
	UserAgents []string

	// Shared holds further tokens, which apps of that name send as well (WhatsApp, Pinterest): they count only where no other word of
	// the User-Agent is one of a browser, an app or a device.
	Shared []string

	// Robots holds the robots.txt groups that it obeys, most specific first: Googlebot-Image, then Googlebot.
	// The group for `*` is not part of it.
	Robots []string

	Star       Tri // whether the group for `*` binds it; No only where its operator documents that it ignores `*`
	CrawlDelay Tri // whether its operator documents that it honours Crawl-delay

	// ReadsGoogle is set for crawlers whose operator reads robots.txt with google/robotstxt, which differs from RFC 9309 in places:
	// robots.Google is its reading.
	ReadsGoogle bool

	LacksWildcards bool // its robots.txt parser takes `*` and `$` for ordinary octets
	LacksAllow     bool // its robots.txt parser ignores Allow lines

	// ControlOnly marks a robots.txt token that arrives in no request (Google-Extended): what it asks for can't be enforced by a server.
	ControlOnly bool

	Verify Verify // how a claim to be this crawler can be checked

	Sources    map[string][]string // field name of the registry file → where the fact comes from
	Unverified []string            // field names of the registry file that no document at hand confirmed
	Checked    string              // day on which the documents in Sources were read, as 2026-11-21; empty where the file says it for all

	index int
}

// Verify says how a claim to be a crawler can be checked. The registry only carries these facts; it does no network I/O.
type Verify struct {
	Hosts           []string // reverse DNS: the host is one of these or ends in a dot and one of these, and resolves back
	HostMasks       []string // the documented form of such host names, `***` standing for a part of the address
	Ranges          []string // URLs of published address lists
	ASN             []int    // autonomous systems that it comes from
	SignatureAgents []string // HTTP Message Signatures: the Signature-Agent that it sends
}

// Index returns the crawler's position in its registry, 0 ≤ Index <
// [Registry.Len]: an index for tables with one entry per crawler.
func (c *Crawler) Index() int { return c.index }

// Tokens returns the User-Agent tokens, those that apps share included.
func (c *Crawler) Tokens() []string { return slices.Concat(c.UserAgents, c.Shared) }

// Registry is an immutable set of crawlers. Its methods are safe for concurrent use.
type Registry struct {
	rows   []*Crawler
	byName map[string]*Crawler // folded name
	byUA   map[string]*Crawler // folded User-Agent token
	byBots map[string]*Crawler // folded robots.txt token → the first row that lists it first, else the first that lists it
	table  *table
	base   *Matcher
}

//go:embed registry.jsonl
var builtinRows []byte

// Builtin returns the registry that comes with this package. It is built on first use.
func Builtin() *Registry { return builtin() }

var builtin = sync.OnceValue(func() *Registry {
	rows, err := ReadRows(builtinRows)
	if err != nil {
		panic("crawler: registry.jsonl: " + err.Error())
	}
	r, err := newRegistry(rows)
	if err != nil {
		panic("crawler: registry.jsonl: " + err.Error())
	}
	return r
})

// With returns a registry with rows added. A row whose Name is already there (in any case) replaces that row.
// The receiver is unchanged. An error names the row and what is wrong with it.
func (r *Registry) With(rows ...Crawler) (*Registry, error) {
	all := make([]Crawler, len(r.rows), len(r.rows)+len(rows))
	at := make(map[string]int, len(all))
	for i, c := range r.rows {
		all[i] = *c
		at[fold(c.Name)] = i
	}
	added := make(map[string]bool, len(rows))
	for _, row := range rows {
		name := fold(row.Name)
		if added[name] {
			return nil, fmt.Errorf("crawler %q is given twice", row.Name)
		}
		added[name] = true
		if i, ok := at[name]; ok {
			all[i] = row
			continue
		}
		at[name] = len(all)
		all = append(all, row)
	}
	return newRegistry(all)
}

func newRegistry(rows []Crawler) (*Registry, error) {
	r := &Registry{
		rows:   make([]*Crawler, 0, len(rows)),
		byName: make(map[string]*Crawler, len(rows)),
		byUA:   make(map[string]*Crawler, 2*len(rows)),
		byBots: make(map[string]*Crawler, 2*len(rows)),
	}
	for _, row := range rows {
		c := row
		c.UserAgents = slices.Clone(row.UserAgents)
		c.Shared = slices.Clone(row.Shared)
		c.Robots = slices.Clone(row.Robots)
		c.index = len(r.rows)
		if err := c.check(); err != nil {
			return nil, fmt.Errorf("crawler %q: %w", c.Name, err)
		}
		if _, ok := r.byName[fold(c.Name)]; ok {
			return nil, fmt.Errorf("crawler %q is given twice", c.Name)
		}
		r.byName[fold(c.Name)] = &c
		for _, token := range c.Tokens() {
			if other, ok := r.byUA[fold(token)]; ok {
				return nil, fmt.Errorf("crawler %q: the User-Agent token %q is already that of %q", c.Name, token, other.Name)
			}
			r.byUA[fold(token)] = &c
		}
		r.rows = append(r.rows, &c)
	}
	for _, first := range []bool{true, false} {
		for _, c := range r.rows {
			for i, token := range c.Robots {
				if _, ok := r.byBots[fold(token)]; !ok && (i == 0) == first {
					r.byBots[fold(token)] = c
				}
			}
		}
	}
	r.table = newTable(r.rows)
	r.base = &Matcher{registry: r, table: r.table, id: nextMatcherID()}
	return r, nil
}

// Lookup returns the crawler of that name, else the one with that User-Agent token, else the one that obeys that robots.txt token
// before any other crawler; nil if there is none. Case does not matter.
func (r *Registry) Lookup(nameOrToken string) *Crawler {
	key := fold(nameOrToken)
	for _, m := range []map[string]*Crawler{r.byName, r.byUA, r.byBots} {
		if c := m[key]; c != nil {
			return c
		}
	}
	return nil
}

// At returns the crawler with Index i.
func (r *Registry) At(i int) *Crawler { return r.rows[i] }

// Len returns the number of crawlers.
func (r *Registry) Len() int { return len(r.rows) }

// All yields the crawlers in the order of their Index.
func (r *Registry) All() iter.Seq[*Crawler] { return slices.Values(r.rows) }

// fold returns s in lower case, ASCII only, as tokens are compared.
func fold(s string) string {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			return strings.Map(func(r rune) rune {
				if 'A' <= r && r <= 'Z' {
					return r + 'a' - 'A'
				}
				return r
			}, s)
		}
	}
	return s
}
