package proposal

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/allsites"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/words"
	"github.com/caddy-robots/caddy-robots/robots"
)

// writer collects the lines and notes.
type writer struct {
	strings.Builder
	lines, notes []string
}

// line adds a subdirective, and the reason for it as a comment.
func (w *writer) line(text, why string) {
	w.lines = append(w.lines, text)
	fmt.Fprintf(w, "\n\t# %s\n\t%s\n", why, text)
}

// note adds a note.
func (w *writer) note(format string, args ...any) {
	w.notes = append(w.notes, fmt.Sprintf(format, args...))
}

// longDelay is the largest Crawl-delay that the block does not limit. With a longer
// one, most crawlers never finish a site.
const longDelay = 60 * time.Second

// minShutOut is the number of disallowed crawlers for AI training from which on
// Propose proposes a policy for all of them.
const minShutOut = 3

// Propose returns a robots block for a site: Caddyfile lines, without the indentation that
// they have in a site block, and notes: what the operator should know about the site, without
// a final period. f is its robots.txt, nil if it is not known. The block is in monitor mode: it
// refuses nothing. suggestions returns comments for its end, by the lines before.
func Propose(s *allsites.Site, f *robots.File, suggestions func(lines []string) string) (block string, notes []string) {
	w := new(writer)
	w.WriteString("robots {\n\tmode monitor # counts and logs what would be refused; remove this line to enforce\n")
	configured(w, s)
	switch {
	case f == nil:
	case len(f.Groups()) == 0:
		w.note("robots.txt has no groups, so it disallows nothing. A policy such as \"policy no-training\" adds rules for AI crawlers")
	default:
		delays(w, f)
		training(w, f)
		headerFields(w, f)
		probes(w, f)
	}
	w.WriteString(suggestions(w.lines) + "}\n")
	return w.String(), w.notes
}

// configured adds what follows from the configuration of the site.
func configured(w *writer, s *allsites.Site) {
	if s.Open() {
		w.line("max_origins 10000", "The site serves hosts that its address does not name: cache the robots.txt of at most 10,000 hosts.")
	}
	if !s.TrustedProxies {
		w.note("if there is a load balancer or CDN in front of the site, set trusted_proxies in the global options. " +
			"Otherwise, all clients have the address of the proxy")
	}
	if s.TrustedProxies {
		w.note("the server trusts proxies. If a proxy has a cache, the requests that it answers do not reach this server, " +
			"so robots.txt is not enforced for them")
	}
}

// delays adds a limit for a long Crawl-delay.
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
			fmt.Sprintf("Line %d of robots.txt has a Crawl-delay of %g seconds. A crawler that obeys it needs weeks for a small site.", line,
				longest.Seconds()))
	}
}

// training proposes a policy if the file disallows some crawlers for AI training, but
// not all of them.
func training(w *writer, f *robots.File) {
	shutOut, missing := map[*crawler.Crawler]bool{}, []string{}
	for row := range crawler.Builtin().All() {
		if !row.CountsAs(crawler.AITraining) && !row.CountsAs(crawler.AIData) || row.ControlOnly {
			continue
		}
		disallowed := false
		for _, token := range row.Robots {
			if g := f.Named(token); g != nil && !g.Match("/").Allowed {
				disallowed = true
			}
		}
		if disallowed {
			shutOut[row] = true
		} else if g := f.Group(row.Robots...); g.Match("/").Allowed {
			missing = append(missing, row.Name)
		}
	}
	if len(shutOut) >= minShutOut && len(missing) > 0 {
		w.line("policy no-training", fmt.Sprintf("robots.txt disallows %d crawlers that collect AI training data. There are %d more, such as %s.",
			len(shutOut), len(missing), strings.Join(missing[:min(3, len(missing))], ", ")))
	}
}

// headerFields adds subdirectives that send headers for lines of the file.
func headerFields(w *writer, f *robots.File) {
	noindex, signals := 0, len(f.ContentSignals())+len(f.ContentUsage()) > 0
	for _, g := range f.Groups() {
		noindex += len(g.NoindexRules())
		signals = signals || len(g.ContentSignals())+len(g.ContentUsage()) > 0
	}
	if noindex > 0 {
		w.line("noindex_lines on", fmt.Sprintf("robots.txt has %d Noindex %s, which crawlers no longer obey: send X-Robots-Tag for them.",
			noindex, english.PluralWord(noindex, "line", "lines")))
	}
	if signals {
		w.line("signals on", "robots.txt has Content-Signal or Content-Usage lines: send them as headers too.")
	}
}

// probes adds a note about health checks and monitors that the file shuts out.
func probes(w *writer, f *robots.File) {
	var names []string
	for _, g := range f.Groups() {
		for _, token := range g.Tokens() {
			if row := crawler.Builtin().Lookup(token); row != nil && row.Class == crawler.Probe && !g.Match("/").Allowed {
				names = append(names, strconv.Quote(token))
			}
		}
	}
	if len(names) > 0 {
		w.note("robots.txt disallows the whole site to health checks or monitors: %s. If they are yours, remove these groups, or a balancer may "+
			"take the server out of service", words.List(names, maxNames))
	}
}

// maxNames is the largest number of names that a note lists.
const maxNames = 5
