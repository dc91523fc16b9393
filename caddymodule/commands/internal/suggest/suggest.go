package suggest

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/caddymodule/commands/internal/replay"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/propose"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/target"
	"github.com/caddy-robots/caddy-robots/internal/words"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Input is what suggestions are made from.
type Input struct {
	// Options are those of the audit. The logs must not be such as can be read only
	// once, and exactly one site must have a robots.txt.
	Options audit.Options
	// Steps are those of that site, not set up.
	Steps []step.Step
	// Report is the report of that audit. Add adds the suggestions to it.
	Report *audit.Report
	// Hosts are those that the log was read for, in lower case. Where the site's settings
	// are those of other hosts too, nothing that is suggested touches these.
	Hosts []string
}

// maxSuggestions is the largest number of suggestions, besides those that only ask clients.
const maxSuggestions = 9

// suggester makes the suggestions for a site.
type suggester struct {
	*Input
	index int        // of the site in Options.Sites
	site  audit.Site // as it is now
	about propose.Site
	fleet uint64 // the User-Agent of about.Fleet, as audit.AgentHash; 0 without one
	// isShort says that the log is too short for some proposals.
	isShort bool
}

// Add adds suggestions to the report. It reads the logs at most four times.
func Add(ctx context.Context, in *Input) error {
	s := &suggester{Input: in}
	s.findSite(ctx)
	r := in.Report
	r.Suggested = &audit.Suggested{Hosts: s.hosts(), Whole: r.Costs.All}
	if len(s.site.Hosts) == 0 && len(r.Suggested.Hosts) > 1 {
		s.about.Note("The log has several hosts, and the lines are for all of them. For those of one, run caddy robots audit with --host.")
	}
	for _, code := range []string{"proxied", "too_few"} { // before what they are about
		if f := s.finding(code); f != nil {
			s.about.Note("%s", strings.TrimSpace(f.Text+" "+f.Change))
		}
	}
	if why := s.unknownStrangers(); why != "" {
		s.about.Note("%s", why)
	}
	if f := s.finding("fleet"); f != nil {
		s.about.Note("%s", f.Text)
		if s.about.Fleet == nil {
			s.about.Note("%s", f.Change)
		}
	}
	list, err := s.candidates()
	if err == nil && len(list) > 0 {
		list, err = s.judge(ctx, list)
	}
	if err != nil {
		return err
	}
	for _, c := range list {
		r.Suggestions = append(r.Suggestions, c.Suggestion)
	}
	s.explain(list)
	r.Suggested.Notes = append([]string{}, s.about.Notes...)
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Code == "costs" || f.Change != "" && (f.Code == "disguised" || f.Code == "fleet" && s.about.Fleet != nil) {
			f.Paste = ""
			f.Change = "Which changes would have saved how much, or why none would, is under Suggestions."
		}
	}
	return nil
}

// findSite finds the site with a robots.txt, and what steps have to know of it.
func (s *suggester) findSite(ctx context.Context) {
	s.index = slices.IndexFunc(s.Options.Sites, func(site audit.Site) bool { return len(site.Robots) > 0 })
	s.site = s.Options.Sites[s.index]
	latest := slices.MaxFunc(s.site.Robots, func(a, b audit.Version) int { return a.From.Compare(b.From) })
	latest.From = time.Time{}
	s.site.Robots = []audit.Version{latest}
	isOne := func(host string) bool { return slices.Contains(s.Hosts, host) }
	if len(s.site.Hosts) > 0 && !slices.ContainsFunc(s.site.Hosts, func(host string) bool { return !isOne(host) }) {
		s.Hosts = nil // the site has no others
	}
	r := s.Report
	s.about = propose.Site{
		Whole: r.Costs.All, Hosts: s.Hosts, Paths: r.Costs.Patterns, IsFew: r.Strangers.Few, Targets: r.Strangers.Targets,
		Count: func(patterns []string) ([]propose.Pages, error) { return s.count(ctx, patterns) },
	}
	if f := r.Strangers.Fleet; f != nil && f.Clients >= audit.LeastFleet {
		s.about.Fleet = f
		s.fleet = audit.AgentHash(s.about.Fleet.Agent)
	}
	if r.IsFlooded() {
		s.about.Flooded = audit.ProposedRate
	}
	if r.Period.From != nil {
		s.about.Period = r.Period.To.Sub(*r.Period.From)
	}
	if latest.Response.Status == http.StatusOK {
		s.about.File = robots.Parse(latest.Response.Body)
	}
	for _, c := range r.Crawlers {
		if !c.Rest {
			s.about.Crawlers = append(s.about.Crawlers, propose.Crawler{Name: c.Name, Class: c.Class, Row: c.Row(), Sum: c.Sum})
		}
	}
	for _, p := range r.Strangers.Paths {
		s.about.Lone = append(s.about.Lone, propose.Pages{Pattern: p.Pattern, Pages: p.Pages.Requests, Lone: p.Lone})
	}
}

// hosts returns the hosts of the site: those of its settings, or those with a tenth of the requests
// of the first.
func (s *suggester) hosts() []string {
	list := slices.Clone(s.site.Hosts)
	if len(list) == 0 {
		for _, h := range s.Report.Hosts {
			if !h.Rest && 10*h.Requests >= s.Report.Hosts[0].Requests {
				list = append(list, h.Name)
			}
		}
	}
	list = slices.DeleteFunc(list, func(host string) bool { // with characters that mean something else in a Caddyfile
		return host == "" || strings.Trim(host, "*abcdefghijklmnopqrstuvwxyz0123456789-.") != ""
	})
	return append([]string{}, list...)
}

// count counts pages: see propose.Site.Count.
func (s *suggester) count(ctx context.Context, patterns []string) ([]propose.Pages, error) {
	counts := words.Map(append(patterns, "/"), func(p string) propose.Pages { return propose.Pages{Pattern: p} })
	groups := words.Map(counts, func(p propose.Pages) *robots.Group { return target.Group(p.Pattern) })
	lone, targets := make([]audit.Distinct, len(counts)), make([]audit.Distinct, len(counts))
	err := audit.Replay(ctx, s.Options, s.index, []audit.Site{s.site}, func(*audit.Judged) {}, func(p *audit.Page) {
		for i, group := range groups {
			if !target.Matches(group, p.Target) {
				continue
			}
			if p.Agent == s.fleet {
				counts[i].Fleet.Add(p.Sum)
			}
			if counts[i].Pages++; p.Lone {
				counts[i].Lone.Add(p.Sum)
				lone[i].Add(p.Client)
				targets[i].Add(xxhash.Sum64String(p.Target))
			}
			return
		}
	})
	for i := range counts {
		counts[i].Addresses, counts[i].Targets = lone[i].Count(), targets[i].Count()
	}
	return counts, err
}

// with returns the site with a proposal.
func (s *suggester) with(p *propose.Proposal) (audit.Site, error) {
	steps := slices.DeleteFunc(slices.Clone(s.Steps), func(one step.Step) bool { return nameOf(one) == nameOf(p.Step) })
	site, _, err := replay.With(s.site, append(steps, p.Step))
	return site, err
}

// isSearch reports whether the crawler is that of a search engine.
func isSearch(row *crawler.Crawler) bool { return row != nil && row.CountsAs(crawler.Search) }
