package audit

import (
	"fmt"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// report returns the report of the audit.
func (a *auditor) report() *Report {
	r := &Report{Suggestions: []Suggestion{}, Crawlers: []Crawler{}, Sources: []Source{}, RobotsLines: []Line{}, Estimates: []string{}, Masked: !a.options.Full, Verified: slices.ContainsFunc(a.sites, func(s *site) bool { return s.Rules.Verification != nil })}
	a.inputs.report(r)
	a.traffic.report(r)
	a.outcomes.report(r)
	a.people.report(r)
	a.disguises.report(r)
	r.Hosts = a.hosts.report()
	estimate := false
	if r.Addresses, estimate = a.reliability.addresses.count(); estimate {
		r.Estimates = append(r.Estimates, "addresses")
	}
	a.crawlers.report(r)
	r.Costs = a.costs.report()
	for _, t := range a.crawlers.all() {
		for key, n := range t.groups {
			for _, token := range key.group.Tokens() {
				key.source.applied[token] += n.applied
			}
		}
	}
	for _, src := range a.allSources() {
		src.explainNever(a.options.Lint)
		one, rules := src.report()
		r.Sources = append(r.Sources, one)
		r.RobotsLines = append(r.RobotsLines, rules...)
	}
	r.WouldHave.Known = len(r.Sources) > 0
	if a.against != nil {
		r.Against = a.against.finish(a.sites)
	}
	if a.suspects != nil {
		a.suspects.report(r)
	}
	r.Warnings = a.warnings(r)
	r.Summary, r.Findings = a.summary(r), a.findings(r)
	return r
}

// summary returns the sentences of Report.Summary.
func (a *auditor) summary(r *Report) []string {
	n := words.Count[int64]
	when := ""
	if r.Period.From != nil {
		when = days(*r.Period.From, *r.Period.To) + ": "
	}
	var list []string
	switch w := &r.WouldHave; {
	case r.Requests == 0:
		return []string{"There are no requests in this log."}
	case w.Judged == 0:
		list = append(list, fmt.Sprintf("%s%s of %s requests are from clients that identify themselves as robots. No robots.txt is known for them, so the report cannot say which of them it would have refused.", when, n(r.Robots), n(r.Requests)))
	default:
		search := fmt.Sprintf("%s of search engines", n(w.Search))
		if r.Verified && w.Search > 0 {
			search += fmt.Sprintf(", %s of them verified", n(w.SearchVerified))
		} else if w.Search > 0 {
			search += ", by their own claim"
		}
		list = append(list, fmt.Sprintf("%s%s of %s requests from clients that identify themselves as robots would have been refused (%s).", when, n(w.Refused), n(r.Robots), search))
	}
	suspects := int64(0) // their refused requests
	if r.Suspects != nil {
		suspects = r.Suspects.Refused
	}
	if named := r.WouldHave.Browsers - suspects; named > 0 {
		list = append(list, fmt.Sprintf("%s with User-Agents of browsers or apps would have been refused, because a group of robots.txt names a word in them.", words.Plural(named, "request", "requests")))
	}
	if s := r.Suspects; s != nil && s.Clients > 0 {
		text := fmt.Sprintf("Suspects among the clients with browsers' User-Agents: %s", n(s.Clients))
		if s.Bound {
			text += fmt.Sprintf(". Their requests that would have been refused: %s", n(suspects))
		}
		list = append(list, text+".")
	}
	list = append(list, r.disguised()...)
	list = append(list, fmt.Sprintf("%s with browsers' User-Agents would not be affected. Robots that send such a User-Agent are included.", words.Plural(r.People-suspects, "request", "requests")))
	list = append(list, "Requests that a CDN or a cache answered are not in this log.")
	return list
}

// probesRefused returns the probes that would have been refused, with the number
// of requests; "" if there is none.
func (r *Report) probesRefused() string {
	var list []string
	for i := range r.Crawlers {
		if c := &r.Crawlers[i]; c.Class == crawler.Probe.String() && c.Denied+c.Throttled > 0 {
			list = append(list, fmt.Sprintf("%s (%s)", c.Name, words.Plural(c.Denied+c.Throttled, "request", "requests")))
		}
	}
	return words.List(list, 5) // clients can invent names
}

// days returns a period in words.
func days(from, to time.Time) string {
	const day, full = "2 January", "2 January 2006"
	switch {
	case from.Format(full) == to.Format(full):
		return from.Format(full)
	case from.Year() == to.Year() && from.Month() == to.Month():
		return fmt.Sprintf("%d–%s", from.Day(), to.Format(full))
	case from.Year() == to.Year():
		return from.Format(day) + "–" + to.Format(full)
	}
	return from.Format(full) + "–" + to.Format(full)
}
