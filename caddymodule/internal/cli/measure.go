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
	Total    int               `json:"total"`
	Crawlers share             `json:"crawlers"`         // all except browsers
	Bound    share             `json:"applies"`          // to which the group for * applies
	BoundAll share             `json:"applies_all"`      // the same with http_clients on and programs on
	Declared share             `json:"declared"`         // that declare that they are robots, and are no probes: `*` never applies to these
	OfThose  share             `json:"declared_applies"` // the part of Declared that is in BoundAll
	Classes  map[string]*share `json:"classes"`
	Purposes map[string]*share `json:"purposes,omitempty"` // of the first crawler that is in the registry

	given, all enforce.Settings // as the flags say; with http_clients on and programs on
}

// share is a part of a list.
type share struct {
	Count   int     `json:"count"`
	Percent float64 `json:"percent"`
}

func newMeasured(given enforce.Settings) *measured {
	m := &measured{Classes: make(map[string]*share), Purposes: make(map[string]*share), given: given, all: given}
	m.all.HTTPClients, m.all.Programs = true, enforce.ProgramsOn
	for class := range crawler.Library + 1 {
		m.Classes[class.String()] = new(share)
	}
	return m
}

// add counts one User-Agent.
func (m *measured) add(ua string, id *crawler.Identity) {
	agents := id.Agents()
	appliesTo := func(s *enforce.Settings) bool {
		return slices.ContainsFunc(agents, func(a crawler.Agent) bool { return s.BoundByStar(a.Class, a.Crawler) })
	}
	isBound, declared := appliesTo(&m.all), id.Class() != crawler.Probe && crawler.DeclaresRobot(ua)
	m.Total++
	m.Crawlers.countIf(id.Class() != crawler.Person)
	m.Bound.countIf(appliesTo(&m.given))
	m.BoundAll.countIf(isBound)
	m.Declared.countIf(declared)
	m.OfThose.countIf(declared && isBound)
	m.Classes[id.Class().String()].Count++
	if i := slices.IndexFunc(agents, func(a crawler.Agent) bool { return a.Crawler != nil }); i >= 0 {
		purpose := cmp.Or(string(agents[i].Crawler.Purpose()), "none")
		if m.Purposes[purpose] == nil {
			m.Purposes[purpose] = new(share)
		}
		m.Purposes[purpose].Count++
	}
}

func (s *share) countIf(counts bool) {
	if counts {
		s.Count++
	}
}

// addPercents sets the percentages.
func (m *measured) addPercents() {
	shares := []*share{&m.Crawlers, &m.Bound, &m.BoundAll, &m.Declared}
	for _, s := range slices.Concat(shares, slices.Collect(maps.Values(m.Classes)), slices.Collect(maps.Values(m.Purposes))) {
		s.Percent = 100 * float64(s.Count) / float64(max(m.Total, 1))
	}
	m.OfThose.Percent = 100 * float64(m.OfThose.Count) / float64(max(m.Declared.Count, 1))
}

// write prints the counts as text.
func (m *measured) write(w io.Writer) {
	line := func(name string, s *share) {
		fmt.Fprintf(w, "    %-40s %8d %8.3f %%\n", report.Visible(name), s.Count, s.Percent)
	}
	fmt.Fprintf(w, "%d User-Agents\n", m.Total)
	line("recognised as not a person's", &m.Crawlers)
	line("the group for * applies", &m.Bound)
	line("  with http_clients on and programs on", &m.BoundAll)
	line("declare that they are robots", &m.Declared)
	if m.Declared.Count > 0 {
		line("  the group for * applies with both on", &m.OfThose)
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
