package proposal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Proposal is a robots block for a site, and what was noticed.
type Proposal struct {
	Block string   // Caddyfile lines, each indented by one tab less than in a site
	Notes []string // sentences for the operator
}

// writer collects a block.
type writer struct {
	strings.Builder
	notes []string
}

// line adds a subdirective, with the comment that says why it is there.
func (w *writer) line(text, why string) {
	fmt.Fprintf(w, "\n\t# %s\n\t%s\n", why, text)
}

func (w *writer) note(format string, args ...any) {
	w.notes = append(w.notes, fmt.Sprintf(format, args...))
}

// longDelay is a Crawl-delay above which most crawlers never finish a site.
const longDelay = 60 * time.Second

// manyNames is the number of groups for crawlers of one purpose that one line
// of a policy replaces with profit.
const manyNames = 3

// Propose returns a block for the site with the given robots.txt; nil says that
// the file is not known. The block decides and records, and refuses nothing.
func (s *Site) Propose(f *robots.File, registry *crawler.Registry) Proposal {
	w := new(writer)
	w.WriteString("robots {\n\tmode monitor # counts and logs what would be refused; remove this line to enforce\n")
	s.surroundings(w)
	switch {
	case f == nil:
	case len(f.Groups()) == 0:
		w.note("robots.txt has no groups: nothing is disallowed to anybody. A policy can say what AI crawlers may do: policy no-training")
	default:
		delays(w, f)
		purposes(w, f, registry)
		fields(w, f)
		reach(w, f, registry)
	}
	w.WriteString("}\n")
	return Proposal{w.String(), w.notes}
}

// surroundings adds what follows from the configuration alone.
func (s *Site) surroundings(w *writer) {
	if s.Open() {
		w.line("max_origins 10000", "The site serves hosts that its address does not name: keep the robots.txt of so many.")
	}
	if s.Plain && !s.TrustedProxies {
		w.note("the site is served without TLS. If a load balancer or CDN stands in front of it, set trusted_proxies in the global options: without it, all clients have the address of the proxy")
	}
	if s.TrustedProxies {
		w.note("proxies are trusted: what a cache in front answers never gets here, so it is neither judged nor counted")
	}
	if n := len(s.AgentMatchers); n > 0 {
		w.note("the site has %d %s for User-Agent (%s). robots.txt with this block can replace those that are about crawlers",
			n, plural(n, "matcher", "matchers"), quoted(s.AgentMatchers))
	}
	if n := len(s.Tags); n > 0 {
		w.note("the site sets X-Robots-Tag by itself (%s). x_robots_tag does that by file, path, media type and status, and checks the directives", quoted(s.Tags))
	}
	if len(s.Backends) > 1 {
		w.note("the site has %d back ends. The robots.txt of the one that answers /robots.txt applies to all of them", len(s.Backends))
	}
}

// delays says what Crawl-delay lines will do.
func delays(w *writer, f *robots.File) {
	var longest time.Duration
	line := 0
	for _, g := range f.Groups() {
		if d, ok := g.CrawlDelay(); ok && d.Delay > longest {
			longest, line = d.Delay, d.Line
		}
	}
	if longest > longDelay {
		w.line(fmt.Sprintf("crawl_delay {\n\t\tmax %gs\n\t}", longDelay.Seconds()),
			fmt.Sprintf("Line %d of robots.txt asks for one request in %g seconds. With that, a crawler needs weeks for a small site.", line, longest.Seconds()))
	}
}

// purposes proposes a policy where the file lists crawlers of one kind.
func purposes(w *writer, f *robots.File, registry *crawler.Registry) {
	named, missing := map[*crawler.Crawler]bool{}, []string{}
	for row := range registry.All() {
		if row.Purpose != crawler.AITraining && row.Purpose != crawler.AIData || row.ControlOnly {
			continue
		}
		shut := false
		for _, token := range row.Robots {
			if g := f.Named(token); g != nil && !g.Match("/").Allowed {
				shut = true
			}
		}
		if shut {
			named[row] = true
		} else if g := f.Group(row.Robots...); g.Match("/").Allowed {
			missing = append(missing, row.Name)
		}
	}
	if len(named) >= manyNames && len(missing) > 0 {
		w.line("policy no-training", fmt.Sprintf("robots.txt shuts out %d crawlers that collect training data, and %d more are known, such as %s.",
			len(named), len(missing), strings.Join(missing[:min(3, len(missing))], ", ")))
	}
}

// fields switches on what the file has lines for.
func fields(w *writer, f *robots.File) {
	noindex, signals := 0, len(f.ContentSignals())+len(f.ContentUsage()) > 0
	for _, g := range f.Groups() {
		noindex += len(g.NoindexRules())
		signals = signals || len(g.ContentSignals())+len(g.ContentUsage()) > 0
		for _, r := range g.Rules() {
			if !r.Allow && strings.HasSuffix(strings.TrimSuffix(r.Pattern, "$"), ".pdf") {
				w.note("line %d of robots.txt disallows PDFs. That keeps crawlers from fetching them, and not from listing their URLs; x_robots_tag *.pdf noindex does, if the line is removed", r.Line)
			}
		}
	}
	if noindex > 0 {
		w.line("noindex_lines on", fmt.Sprintf("robots.txt has %d Noindex %s, which crawlers no longer obey: send X-Robots-Tag for them.", noindex, plural(noindex, "line", "lines")))
	}
	if signals {
		w.line("signals on", "robots.txt has Content-Signal or Content-Usage lines: send them as headers too.")
	}
}

// reach says whom the file's groups bind.
func reach(w *writer, f *robots.File, registry *crawler.Registry) {
	if !f.Star().Match("/").Allowed {
		w.note("the group for * disallows the whole site: every crawler without a group of its own will be refused, search engines too")
	}
	var control, unknown []string
	for _, g := range f.Groups() {
		for _, token := range g.Tokens() {
			row := registry.Lookup(token)
			switch {
			case token == "*":
			case row == nil:
				unknown = append(unknown, token)
			case row.ControlOnly:
				control = append(control, token)
			}
		}
	}
	if len(control) > 0 {
		w.note("no server can enforce the %s for %s: these tokens arrive in no request", plural(len(control), "group", "groups"), quoted(control))
	}
	if len(unknown) > 0 {
		w.note("no known crawler has the %s %s: each binds requests whose User-Agent has it as a word", plural(len(unknown), "name", "names"), quoted(unknown))
	}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// maxQuoted is the most values that a note shows.
const maxQuoted = 5

func quoted(values []string) string {
	values = slices.Compact(slices.Sorted(slices.Values(values)))
	rest := ""
	if len(values) > maxQuoted {
		rest = fmt.Sprintf(" and %d more", len(values)-maxQuoted)
		values = values[:maxQuoted]
	}
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = fmt.Sprintf("%q", v)
	}
	return strings.Join(parts, ", ") + rest
}
