package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/report"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// maxListLine is the maximum length of a line of a list, in octets.
const maxListLine = 1 << 20

// eachUserAgent calls f for each line of a list of User-Agents. A TAB and the
// text after it are ignored. An empty line is an empty User-Agent. A line of more
// than maxListLine octets is an error.
func eachUserAgent(list io.Reader, f func(ua string)) error {
	s := bufio.NewScanner(list)
	s.Buffer(nil, maxListLine)
	n := 0
	for ; s.Scan(); n++ {
		ua, _, _ := strings.Cut(s.Text(), "\t")
		f(ua)
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("reading line %d: %w", n+1, err)
	}
	return nil
}

// measured is the output of --measure.
type measured struct {
	Total    int              `json:"total"`
	Crawlers share            `json:"crawlers"`         // all except browsers
	Bound    share            `json:"applies"`          // to which the group for * applies
	BoundAll share            `json:"applies_all"`      // the same with http_clients on and programs on
	Declared share            `json:"declared"`         // that declare that they are robots
	OfThose  share            `json:"declared_applies"` // the part of Declared that is in BoundAll
	Classes  map[string]share `json:"classes"`
	Purposes map[string]share `json:"purposes,omitempty"` // of crawlers in the registry
}

// share is a part of a list.
type share struct {
	Count   int     `json:"count"`
	Percent float64 `json:"percent"`
}

// counts counts the User-Agents of a list.
type counts struct {
	given, all              *enforce.Settings // as the flags say; with http_clients on and programs on
	total                   int
	bound, boundAll         int // to which the group for * applies: with given; with all
	declared, declaredBound int // that declare that they are robots, and the part of them that is in boundAll
	classes                 [crawler.Library + 1]int
	purposes                map[crawler.Purpose]int // of the first crawler that is in the registry
}

func newCounts(given *enforce.Settings) *counts {
	all := *given
	all.HTTPClients, all.Programs = true, enforce.ProgramsOn
	return &counts{given: given, all: &all, purposes: make(map[crawler.Purpose]int)}
}

// add counts one User-Agent.
func (c *counts) add(ua string, id *crawler.Identity) {
	c.total++
	c.classes[id.Class()]++
	agents := id.Agents()
	if i := slices.IndexFunc(agents, func(a crawler.Agent) bool { return a.Crawler != nil }); i >= 0 {
		c.purposes[agents[i].Crawler.Purpose]++
	}
	appliesTo := func(s *enforce.Settings) bool {
		return slices.ContainsFunc(agents, func(a crawler.Agent) bool { return s.BoundByStar(a.Class, a.Crawler) })
	}
	if appliesTo(c.given) {
		c.bound++
	}
	boundAll := appliesTo(c.all)
	if boundAll {
		c.boundAll++
	}
	if crawler.DeclaresRobot(ua) {
		if c.declared++; boundAll {
			c.declaredBound++
		}
	}
}

// measured returns the output.
func (c *counts) measured() *measured {
	of := func(n, total int) share { return share{n, 100 * float64(n) / float64(max(total, 1))} }
	part := func(n int) share { return of(n, c.total) }
	m := &measured{
		Total:    c.total,
		Crawlers: part(c.total - c.classes[crawler.Person]),
		Bound:    part(c.bound),
		BoundAll: part(c.boundAll),
		Declared: part(c.declared),
		OfThose:  of(c.declaredBound, c.declared),
		Classes:  make(map[string]share),
		Purposes: make(map[string]share),
	}
	for class, n := range c.classes {
		m.Classes[crawler.Class(class).String()] = part(n)
	}
	for purpose, n := range c.purposes {
		m.Purposes[cmp.Or(string(purpose), "none")] = part(n)
	}
	return m
}

// write prints the counts as text.
func (m *measured) write(w io.Writer) {
	line := func(name string, s share) {
		fmt.Fprintf(w, "    %-40s %8d %8.3f %%\n", report.Visible(name), s.Count, s.Percent)
	}
	fmt.Fprintf(w, "%d User-Agents\n", m.Total)
	line("recognised as not a person's", m.Crawlers)
	line("the group for * applies", m.Bound)
	line("  with http_clients on and programs on", m.BoundAll)
	line("declare that they are robots", m.Declared)
	if m.Declared.Count > 0 {
		line("  the group for * applies with both on", m.OfThose)
	}
	fmt.Fprintln(w, "by class")
	for class := range crawler.Library + 1 {
		line(class.String(), m.Classes[class.String()])
	}
	if len(m.Purposes) == 0 {
		return
	}
	fmt.Fprintln(w, "by purpose (crawlers in the registry)")
	for _, purpose := range slices.SortedFunc(maps.Keys(m.Purposes), func(a, b string) int {
		return cmp.Or(cmp.Compare(m.Purposes[b].Count, m.Purposes[a].Count), strings.Compare(a, b))
	}) {
		line(purpose, m.Purposes[purpose])
	}
}
