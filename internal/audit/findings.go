package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit/mask"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/internal/snippet"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Finding answers one of the questions that the report opens with. What harms comes
// first. worst_half_hour, search_refused and never_applied are in every report that has
// requests.
type Finding struct {
	// Code identifies the question.
	//
	//   - too_few: what the log has too few people for, if anything; it is the first finding
	//   - search_refused: which search engines would have been refused, and by which lines
	//   - probes_refused: which health checks and monitors would have been refused, if any
	//   - own_clients_refused: which clients that may be the operator's would have been, if any
	//   - worst_half_hour: which crawler sent so many requests in half an hour that it harms, and when
	//   - disguised: which pages robots with browsers' User-Agents seem to request, if any
	//   - costs: which robot and which paths cost most, if that is much
	//   - never_applied: which lines of robots.txt applied to no request
	Code string `json:"code"`
	Text string `json:"text"` // the answer, in English
	// Change says what to change, and where; "" if nothing should change.
	Change string `json:"change,omitempty"`
	// Paste is the text for that place; "" if there is none. It never disallows
	// anything to a search engine, and never exempts a crawler that is not verified.
	Paste string `json:"paste,omitempty"`
}

// findings returns the findings of a report.
func (a *auditor) findings(r *Report) []Finding {
	if r.Requests == 0 {
		return []Finding{}
	}
	tallies := a.crawlers.all()
	list := []Finding{a.searchRefused(r, tallies)}
	if probes := r.refused(func(c *Crawler) bool { return c.Class == crawler.Probe.String() }); probes != "" {
		list = append(list, Finding{Code: "probes_refused",
			Text:   "Health checks and monitors would have been refused, so that a balancer may take the server out of service: " + probes + ".",
			Change: "Exempt them from the rules, with their names and addresses, in the robots block of the Caddyfile: exempt NAME from ADDRESS."})
	}
	if own := r.refused((*Crawler).MayBeOwn); own != "" {
		list = append(list, Finding{Code: "own_clients_refused",
			Text: "Clients that may be your own, because each came from one or two addresses, would have been refused: " + own + ".",
			Change: "If one is yours, exempt it, with its addresses, in the robots block of the Caddyfile: exempt NAME from ADDRESS. " +
				"A name that is not that of a known crawler needs a block too: crawler NAME, with the line user_agents NAME."})
	}
	list = append(list, a.worstHalfHour(tallies))
	disguised := r.lonely()
	if len(disguised) > 0 {
		list = append(list, Finding{Code: "disguised", Text: strings.Join(disguised, " "),
			Change: "Robots.txt can't refuse them. Run this command again with --suggest: if they stormed paths, it proposes challenge for these, " +
				"with what that would have held, and how many others it would have asked once."})
	}
	if costs := r.costs(); len(costs) > 0 {
		list = append(list, Finding{Code: "costs", Text: strings.Join(costs, " "),
			Change: "To see which changes would have saved how much, run this command again with --suggest."})
	}
	list = append(list, a.neverApplied(r))
	harms := func(f Finding) bool { return f.Change != "" }
	harmless := slices.DeleteFunc(slices.Clone(list), harms)
	list = append(slices.DeleteFunc(list, func(f Finding) bool { return !harms(f) }), harmless...)
	if r.Strangers.Few && len(disguised) > 0 { // before what it is about
		list = slices.Insert(list, 0, Finding{Code: "too_few", Text: a.strangers.tooFew()})
	}
	return list
}

// costs returns sentences about what costs much.
func (r *Report) costs() (list []string) {
	if c := r.dearest(); c != nil {
		list = append(list, fmt.Sprintf("Of all robots, %s cost most: %s.", cmp.Or(c.Name, "clients without a User-Agent"), r.parts(c.Sum)))
	}
	if row := r.dearestPath(); row != nil {
		list = append(list, fmt.Sprintf("Of all paths, %s cost most: %s.", row.Pattern, r.parts(row.Sum)))
	}
	return list
}

// halfHour counts the requests of a crawler in half an hour.
type halfHour struct{ start, requests, refused int64 } // start in half hours since 1970

// atHalfHour returns the half hour of a time in nanoseconds since 1970. It keeps the
// last two and the one with most requests, because the verdict on a request comes up
// to reorderWindow later.
func (t *crawlerTally) atHalfHour(nanos int64) *halfHour {
	start := nanos / int64(30*time.Minute)
	if i := slices.IndexFunc(t.halfHours[:], func(h halfHour) bool { return h.start == start }); i >= 0 {
		return &t.halfHours[i]
	}
	worst, last, now := &t.halfHours[0], &t.halfHours[1], &t.halfHours[2]
	if last.requests > worst.requests {
		*worst = *last
	}
	*last, *now = *now, halfHour{start: start}
	return now
}

// worst returns the half hour with most requests.
func (t *crawlerTally) worst() halfHour {
	return slices.MaxFunc(t.halfHours[:], func(a, b halfHour) int { return cmp.Compare(a.requests, b.requests) })
}

// proposedRate is the rate of each crawler, in requests a minute, that the proposed
// limit allows.
const proposedRate = 30

// worstHalfHour says which crawler sent most requests in half an hour.
func (a *auditor) worstHalfHour(tallies []*crawlerTally) Finding {
	f := Finding{Code: "worst_half_hour"}
	var who *crawlerTally
	for _, t := range tallies {
		if !t.Rest && t.class != crawler.Probe && t.worst().requests > 0 && (who == nil || t.worst().requests > who.worst().requests) {
			who = t
		}
	}
	if who == nil {
		f.Text = "The worst half hour is not known: the log has no times of crawlers' requests."
		return f
	}
	h, name := who.worst(), cmp.Or(who.Name, "clients without a User-Agent")
	if h.requests <= 30*proposedRate {
		f.Text = fmt.Sprintf("No flood: no robot sent more than %s in half an hour.", requests(h.requests))
		return f
	}
	from := time.Unix(0, h.start*int64(30*time.Minute)).UTC()
	f.Text = fmt.Sprintf("The worst half hour began on %s UTC: %s sent %s, %s a minute", from.Format("2 January 2006 at 15:04"), name,
		requests(h.requests), words.Count(h.requests/30))
	if h.refused > 0 {
		f.Text += fmt.Sprintf("; %s of them would have been refused", words.Count(h.refused))
		if lines := a.linesRefusing(who); len(lines) > 0 {
			f.Text += ", most by " + lines[0].place
		}
	}
	f.Text += "."
	switch {
	case 2*h.refused >= h.requests:
		f.Change = "Enforce robots.txt as it is: it refuses most of them."
	case who.isSearch() || who.row != nil && who.row.CountsAs(crawler.Ads):
		f.Change = "Do not refuse it: search engines and advertisers that get errors come less often for days. Set a slower " +
			"rate in its tools for webmasters."
	case who.class == crawler.UserTriggered || who.class >= crawler.Webhook: // and programs and libraries
		f.Change = "Find out who it is before you limit it: clients of an API and people's tools send this User-Agent too."
	default:
		f.Change = fmt.Sprintf("Limit each crawler to %d requests a minute. Search engines, people and probes are not held. "+
			"In the robots block of the Caddyfile:",
			proposedRate)
		f.Paste = fmt.Sprintf("limit {\n\teach %d/1m\n}", proposedRate)
	}
	return f
}

// lineRefusing is a line with the number of requests of some crawlers that it would
// have refused.
type lineRefusing struct {
	place   string
	refused int64
	named   bool // its group names the crawlers
	pace    bool
}

// noAlarm returns what search engines are refused besides, for good reasons.
func noAlarm(requests int64) string {
	if requests == 0 {
		return ""
	}
	return " Not counted: " + words.Plural(requests, "refused request", "refused requests") +
		" of impostors, or faster than a group that names the crawler allows."
}

// linesRefusing returns the lines that would have refused requests of crawlers, those
// with most of them first.
func (a *auditor) linesRefusing(tallies ...*crawlerTally) (list []lineRefusing) {
	for _, src := range a.allSources() {
		for _, rule := range src.rules {
			r := &rule.rule
			l := lineRefusing{place: a.place(src.Name, r), named: r.Layer == judge.FileLayer.String() && r.Group != "*", pace: r.Kind != "allow" &&
				r.Kind != "disallow"}
			for _, t := range tallies {
				if n := rule.crawlers[t.Name]; n != nil {
					l.refused += n.Denied
				}
			}
			if l.refused > 0 {
				list = append(list, l)
			}
		}
	}
	sortMost(list, func(l *lineRefusing) (int64, string) { return l.refused, l.place })
	return list
}

// place returns the place of a line of a source in words, with its text. Hidden paths
// are not shown.
func (a *auditor) place(source string, l *Line) string {
	text := fmt.Sprintf("line %d", l.Line)
	switch {
	case l.Layer != judge.FileLayer.String():
		text += " of " + cmp.Or(l.File, "the configuration")
	case len(a.allSources()) > 1:
		text += " of " + source
	}
	if l.Layer == managed.HiddenLayer.String() {
		return text + " (a hidden path)"
	}
	return text + " (" + mask.Shortened(l.Text) + ")"
}

// searchRefused says which search engines would have been refused, and by which lines.
func (a *auditor) searchRefused(r *Report, tallies []*crawlerTally) Finding {
	f := Finding{Code: "search_refused"}
	var who, refused, verified []string
	var engines []*crawlerTally
	var more int64 // refused, and no alarm
	for _, t := range tallies {
		if !t.isSearch() {
			continue
		}
		more += t.Denied + t.Throttled - t.VerifiedRefused - t.ClaimsRefused
		who = append(who, fmt.Sprintf("%s (%s, %s verified)", t.Name, requests(t.Requests), words.Count(t.Verified)))
		if n := t.VerifiedRefused + t.ClaimsRefused; n > 0 {
			engines = append(engines, t)
			refused = append(refused, fmt.Sprintf("%s of %s (%s verified)", words.Count(n), t.Name, words.Count(t.VerifiedRefused)))
		}
		if t.VerifiedRefused > 0 {
			verified = append(verified, snippet.Name(t.Name))
		}
	}
	switch {
	case r.WouldHave.Judged == 0:
		f.Text = "Search engines: not known, because no robots.txt is known."
	case len(who) == 0:
		f.Text = "Search engines: none is in this log."
	case len(engines) == 0:
		f.Text = "Search engines: no request would have been refused. They are " + words.List(who, 5) + "." + noAlarm(more)
	default:
		f.Text = "Search engines: these requests would have been refused: " + words.List(refused, 5)
	}
	if len(engines) == 0 {
		return f
	}
	var places []string
	named := true
	for _, l := range a.linesRefusing(engines...) {
		if l.named && l.pace {
			continue // this is no alarm
		}
		places = append(places, fmt.Sprintf("%s: %s", l.place, words.Count(l.refused)))
		named = named && l.named
	}
	if len(places) > 0 {
		f.Text += "; by " + words.List(places, 3)
	}
	f.Text += "." + noAlarm(more)
	switch {
	case named && len(places) > 0:
		f.Change = "These groups name the search engines, so this seems to be meant. If not, delete these lines."
	case len(verified) > 0:
		f.Change = "If these pages should be found, exempt the verified search engines from the rules. In the robots block of the Caddyfile:"
		f.Paste = "verify\nexempt " + strings.Join(verified, " ")
	case a.claims != nil && !a.claims.worked.Load():
		f.Change = "No crawler could be verified, because neither the published lists nor DNS answered: run this command again when they do."
	case r.Verified:
		f.Text += " None of these clients is verified, so this harms no search engine that is known: change nothing for them."
	default:
		f.Change = "Anybody can call themselves a search engine: before you change anything, run this command again with --verify."
	}
	return f
}

// neverApplied says which lines of the sites' own files never applied.
func (a *auditor) neverApplied(r *Report) Finding {
	f := Finding{Code: "never_applied"}
	applied := make(map[[2]int]int64) // by source and line: a policy can copy a line into several groups
	for i := range r.RobotsLines {
		if l := &r.RobotsLines[i]; l.Layer == judge.FileLayer.String() {
			applied[[2]int{l.Source, l.Line}] += l.Applied
		}
	}
	var never []string
	for i := range r.RobotsLines {
		l := &r.RobotsLines[i]
		if n, known := applied[[2]int{l.Source, l.Line}]; known && n == 0 && l.Layer == judge.FileLayer.String() {
			never = append(never, a.place(r.Sources[l.Source].Name, l))
		}
	}
	never = slices.Compact(never)
	switch {
	case len(applied) == 0:
		f.Text = "Lines that never applied: not known, because no robots.txt with rules is known."
	case len(never) == 0:
		f.Text = "Lines that never applied: none. Each of them decided about a request."
	default:
		f.Text = fmt.Sprintf("Of %s, %d never applied: %s. The linter, caddy robots lint, finds those with mistakes.",
			words.Plural(len(applied), "line", "lines"), len(never), words.List(never, 3))
	}
	return f
}
