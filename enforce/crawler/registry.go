package crawler

import (
	_ "embed"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/internal/editdistance"
)

// Crawler is one row of the registry. Do not change it once it is part of a [Registry].
type Crawler struct {
	Name     string    `json:"name"` // unique within a registry, in any case
	Operator string    `json:"operator"`
	Purposes []Purpose `json:"purposes"` // the main one first
	Class    Class     `json:"-"`        // Registered, UserTriggered, Scraper, Webhook, Probe, Program, Library or App
	RunBy    RunBy     `json:"run_by"`   // who runs it: its operator, or anyone

	// UserAgents has the tokens that it sends in its User-Agent. A token matches whole words, in any case; a space in it also matches `+`, and a
	// hyphen at its end, outside comments, any rest of the word.
	UserAgents []string `json:"user_agents"`

	// Shared has further tokens, which apps of the same name send too (WhatsApp, Pinterest). They count only if the User-Agent has no word
	// of a browser, an app or a device.
	Shared []string `json:"shared"`

	// Robots has the product tokens of the robots.txt groups that it obeys, most specific first: Googlebot-Image, then Googlebot. `*` is
	// not among them.
	Robots []string `json:"robots"`

	Star       Tri `json:"-"` // whether it obeys the group for `*`; No only if its operator documents that it ignores `*`
	CrawlDelay Tri `json:"-"` // whether it honours Crawl-delay, in any group that applies to it

	// StarStated and CrawlDelayStated are true if Star and CrawlDelay are what a site's operator wants, and no fact about the crawler.
	StarStated, CrawlDelayStated bool `json:"-"`

	// ReadsGoogle is true if the operator parses robots.txt with google/robotstxt, which differs from RFC 9309 in some places. robots.Google
	// reads a file like google/robotstxt.
	ReadsGoogle bool `json:"-"`

	LacksWildcards bool `json:"-"` // its robots.txt parser gives `*` and `$` in a path no special meaning
	LacksAllow     bool `json:"-"` // its robots.txt parser ignores Allow lines

	// ControlOnly is true for a preference: a robots.txt token that no client sends (Google-Extended), with which a site says what the pages
	// that other crawlers fetch may be used for. A server can't enforce it, and a client that sends the token is bound by the group for `*`.
	ControlOnly bool `json:"control_only"`

	Verify Verify `json:"verify"` // how a claim to be this crawler can be checked

	// by field name of the registry file: URLs or descriptions of the documents that state the fact; nil in the built-in registry, to save
	// memory
	Sources    map[string][]string `json:"sources"`
	Unverified []string            `json:"unverified"` // field names of the registry file: facts that no document of the operator confirms
	// the day on which the documents in Sources were read, like 2026-11-21; empty if the file's comments state it
	Checked string `json:"checked"`

	index int
}

// Verify has the facts with which a claim to be a crawler can be checked. This package does not check claims and uses no network.
type Verify struct {
	// domains for forward-confirmed reverse DNS: a host name must be one of these or end with a dot and one of these
	Hosts []string `json:"hosts"`
	// the documented form of such host names; `***` stands for a part of the address: crawl-***-***-***-***.googlebot.com
	HostMasks       []string `json:"host_masks"`
	Ranges          []string `json:"ranges"`           // URLs of published address lists
	SignatureAgents []string `json:"signature_agents"` // HTTP Message Signatures: the URLs that it sends in Signature-Agent
}

// Index returns the crawler's position in its registry, 0 ≤ Index <
// [Registry.Len]. It can be the index of a table with one entry per crawler. It is
// 0 for a row that is not in a registry.
func (c *Crawler) Index() int { return c.index }

// Purpose returns the main purpose; "" if the row has none.
func (c *Crawler) Purpose() Purpose {
	if len(c.Purposes) == 0 {
		return ""
	}
	return c.Purposes[0]
}

// CountsAs reports whether a rule for purpose p applies to the crawler: p is one
// of its purposes. A crawler of a search engine counts as [Search] only, so that
// no rule for another purpose shuts a site out of the search engine.
func (c *Crawler) CountsAs(p Purpose) bool {
	return slices.Contains(c.Purposes, p) && (p == Search || !slices.Contains(c.Purposes, Search))
}

// Tokens returns the User-Agent tokens: UserAgents and Shared.
func (c *Crawler) Tokens() []string { return slices.Concat(c.UserAgents, c.Shared) }

// Registry is an immutable set of crawlers. Its methods are safe for concurrent use.
type Registry struct {
	rows   []*Crawler
	byName map[string]*Crawler   // folded name
	byUA   map[string]*Crawler   // folded User-Agent token
	byBots map[string]*Crawler   // folded robots.txt token → the first row with it at the head of Robots, else the first row with it
	named  map[string][]*Crawler // folded token of either kind
	table  *wordTable
	base   *Matcher
}

//go:embed registry.jsonl
var builtinRows []byte

// Builtin returns the registry of this package. The first call builds it.
func Builtin() *Registry { return builtin() }

var builtin = sync.OnceValue(func() *Registry {
	var r *Registry
	// A test checks the rows: here, that would make the table of people's words for each process.
	rows, err := readRows(builtinRows, nil, atLine)
	for i := range rows {
		rows[i].Sources = nil
	}
	if err == nil {
		r, err = newRegistry(rows)
	}
	if err != nil {
		panic("crawler: registry.jsonl: " + err.Error())
	}
	return r
})

// With returns a registry with rows added. A row replaces the row of r that has the same Name, in any case. r itself does not change. An
// error names the row and what is wrong with it.
func (r *Registry) With(rows ...Crawler) (*Registry, error) {
	all := make([]Crawler, len(r.rows), len(r.rows)+len(rows))
	for i, c := range r.rows {
		all[i] = *c
	}
	added := make(map[string]bool, len(rows))
	for _, row := range rows {
		if err := row.check(); err != nil {
			return nil, fmt.Errorf("crawler %q: %w", row.Name, err)
		}
		name := canonical.Lower(row.Name)
		if added[name] {
			return nil, fmt.Errorf("the crawler name %q is given twice: remove one", row.Name)
		}
		added[name] = true
		if known := r.byName[name]; known != nil {
			all[known.index] = row
		} else {
			all = append(all, row)
		}
	}
	return newRegistry(all)
}

// newRegistry returns the registry of rows that were checked, each alone.
func newRegistry(rows []Crawler) (*Registry, error) {
	r := &Registry{
		rows:   make([]*Crawler, 0, len(rows)),
		byName: make(map[string]*Crawler, len(rows)),
		byUA:   make(map[string]*Crawler, len(rows)),
		byBots: make(map[string]*Crawler, len(rows)),
		named:  make(map[string][]*Crawler, len(rows)),
	}
	for _, row := range rows {
		c := row
		c.UserAgents = slices.Clone(row.UserAgents)
		c.Shared = slices.Clone(row.Shared)
		c.Robots = slices.Clone(row.Robots)
		c.Purposes = slices.Clone(row.Purposes)
		c.index = len(r.rows)
		if _, ok := r.byName[canonical.Lower(c.Name)]; ok {
			return nil, fmt.Errorf("the crawler name %q is given twice: remove one", c.Name)
		}
		r.byName[canonical.Lower(c.Name)] = &c
		for _, token := range c.Tokens() {
			if other, ok := r.byUA[canonical.Lower(token)]; ok {
				return nil, fmt.Errorf("crawler %q: the User-Agent token %q already belongs to crawler %q", c.Name, token, other.Name)
			}
			r.byUA[canonical.Lower(token)] = &c
		}
		for _, token := range slices.Concat(c.Robots, c.Tokens()) {
			r.named[canonical.Lower(token)] = append(r.named[canonical.Lower(token)], &c)
		}
		r.rows = append(r.rows, &c)
	}
	for _, first := range []bool{true, false} {
		for _, c := range r.rows {
			for i, token := range c.Robots {
				if _, ok := r.byBots[canonical.Lower(token)]; !ok && (i == 0) == first {
					r.byBots[canonical.Lower(token)] = c
				}
			}
		}
	}
	r.table = newTable(r.rows)
	r.base = &Matcher{registry: r, table: r.table, id: matcherIDs.Add(1)}
	return r, nil
}

// Lookup returns the crawler with the given name, else the one with that User-Agent token, else the first whose Robots begins with that
// token, else the first whose Robots has it. It returns nil if there is none. Case does not matter.
func (r *Registry) Lookup(nameOrToken string) *Crawler {
	key := canonical.Lower(nameOrToken)
	for _, m := range []map[string]*Crawler{r.byName, r.byUA, r.byBots} {
		if c := m[key]; c != nil {
			return c
		}
	}
	return nil
}

// Named returns the crawlers that have a token, as one of their Tokens or of their
// Robots. Case does not matter. A crawler can be there twice.
func (r *Registry) Named(token string) []*Crawler { return r.named[canonical.Lower(token)] }

// At returns the crawler with Index i, 0 ≤ i < Len.
func (r *Registry) At(i int) *Crawler { return r.rows[i] }

// Len returns the number of crawlers.
func (r *Registry) Len() int { return len(r.rows) }

// All yields the crawlers in the order of their Index.
func (r *Registry) All() iter.Seq[*Crawler] { return slices.Values(r.rows) }

// Purposes returns the purposes of the crawlers, sorted.
func (r *Registry) Purposes() (list []Purpose) {
	for _, row := range r.rows {
		list = append(list, row.Purposes...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// UnknownNameError is the error for a name that a registry does not have. A registry with more crawlers may have it.
type UnknownNameError struct{ message string }

// Error returns the message.
func (e *UnknownNameError) Error() string { return e.message }

// CheckNames returns an error for the first of the names in a line of the configuration that is neither a purpose nor the name of a crawler.
func (r *Registry) CheckNames(line string, names ...string) error {
	for _, name := range names {
		if err := r.CheckName(line, name, true); err != nil {
			return err
		}
	}
	return nil
}

// CheckName returns an error for a name in a line of the configuration that is not a crawler's or, if purposes is true, a purpose. If it is that
// of no crawler, the error is an *UnknownNameError.
func (r *Registry) CheckName(line, name string, purposes bool) error {
	isPurpose := slices.Contains(r.Purposes(), Purpose(name))
	switch {
	case isPurpose && purposes:
		return nil
	case isPurpose:
		return fmt.Errorf("%s %s: that is a purpose, but %s takes names of crawlers", line, name, line)
	case r.Lookup(name) != nil && r.People(name):
		return fmt.Errorf("%s %s: people use this app, and no rule applies to them", line, name)
	case r.Lookup(name) != nil:
		return nil
	case strings.HasPrefix(name, "/") || strings.HasPrefix(name, "*"):
		return fmt.Errorf("%s: %q is a path, but must be a purpose or the name of a crawler", line, name)
	}
	var known []string
	kind := "crawler"
	if purposes {
		kind = "purpose and no crawler"
		for _, p := range r.Purposes() {
			known = append(known, string(p))
		}
	}
	for _, row := range r.rows {
		known = append(append(known, row.Name), row.Tokens()...)
	}
	message := fmt.Sprintf("%s: the registry has no %s %q", line, kind, name)
	if near := editdistance.Nearest(name, slices.Values(known)); near != "" {
		message += "; did you mean " + near + "?"
	}
	return &UnknownNameError{message}
}
