package suggest

import (
	"cmp"
	"slices"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/propose"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// explain notes, for each robot that the report calls a cost and that no suggestion is about,
// why none is; and if there is no suggestion at all, that there is nothing to save.
func (s *suggester) explain(chosen []*candidate) {
	said := 0
	for _, c := range s.Report.Dear() {
		why := s.why(c)
		if why == "" || slices.ContainsFunc(chosen, func(one *candidate) bool { return one.isAbout(c) }) {
			continue
		}
		said++
		s.about.Note("%s: %s", cmp.Or(c.Name, "Clients without a User-Agent"), why)
	}
	nothing := "Nothing that robots request under their own names"
	if len(chosen) > 0 || s.hasStrangers() {
		nothing = "Besides, nothing that robots request under their own names"
	}
	if said == 0 && !s.isShort && (len(chosen) == 0 || chosen[0].Asks) {
		s.about.Note("%s costs more than %.0f %% of all requests and can be saved without a loss.", nothing, 100*propose.MinShare)
	}
}

// hasStrangers reports whether the report calls strangers a cost, or can't tell.
func (s *suggester) hasStrangers() bool {
	return s.Report.Costs.Lone.Requests > 0 || s.unknownStrangers() != "" || s.finding("fleet") != nil
}

// finding returns the finding with a code; nil if there is none.
func (s *suggester) finding(code string) *audit.Finding {
	i := slices.IndexFunc(s.Report.Findings, func(f audit.Finding) bool { return f.Code == code })
	if i < 0 {
		return nil
	}
	return &s.Report.Findings[i]
}

// unknownStrangers says why it is not known which addresses are lone; "" if it is.
func (s *suggester) unknownStrangers() string {
	i := slices.IndexFunc(s.Report.Warnings, func(w audit.Warning) bool { return w.Code == "no_strangers" })
	if i < 0 {
		return ""
	}
	return s.Report.Warnings[i].Text
}

// why says why no change is suggested for a crawler; "" if it is that the log is too short, which is said
// already.
func (s *suggester) why(c *audit.Crawler) string {
	switch {
	case slices.Contains(c.Purposes, string(crawler.Search)):
		return "a search engine is not refused, because it would come less often for days. Set a slower rate in its tools for webmasters."
	case c.Class == crawler.Probe.String():
		return "health checks and monitors are not refused. Let them ask less often."
	case !propose.Crawls(c.Class):
		return "programs of people and of your own look the same, so nothing is suggested against it. Find out who it is, " +
			"and refuse its addresses in the firewall if it is nobody you know."
	case c.Denied+c.Throttled >= c.Requests/2:
		return "the rules refuse most of its requests already: enforce them."
	case c.Addresses < minAddresses:
		return "it came from " + words.Plural(c.Addresses, "address", "addresses") + ", and below " + words.Count(int64(minAddresses)) +
			" anybody can have sent its name. If you know it, deny it, or refuse its addresses in the firewall."
	}
	if s.isShort {
		return ""
	}
	return "each change that would save its requests would refuse people's, search engines' or feed readers' too, or is not possible, as said above."
}
