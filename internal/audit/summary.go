package audit

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// report returns the report of the audit.
func (a *auditor) report() *Report {
	r := &Report{Suggestions: []Suggestion{}, Crawlers: []Crawler{}, Sources: []Source{}, RobotsLines: []Line{}, Estimates: []string{},
		Masked: !a.options.Full, Verified: slices.ContainsFunc(a.sites, func(s *site) bool { return s.Rules.Verification != nil })}
	a.inputs.report(r)
	a.traffic.report(r)
	a.outcomes.report(r)
	a.people.report(r)
	a.disguises.report(r)
	r.Hosts = a.hosts.report()
	var estimated bool
	r.Addresses, estimated = a.reliability.addresses.count()
	r.estimate("addresses", estimated)
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
		r.Against = a.against.finish(a.before)
	}
	if a.suspects != nil {
		a.suspects.report(r)
	}
	r.Warnings = a.warnings(r)
	r.Summary, r.Findings = a.summary(r), a.findings(r)
	return r
}

// requests returns a number of requests in words.
func requests(n int64) string { return words.Plural(n, "request", "requests") }

// summary returns the sentences of Report.Summary.
func (a *auditor) summary(r *Report) (list []string) {
	if r.Requests == 0 {
		return []string{"There are no requests in this log."}
	}
	say := func(necessary bool, format string, args ...any) {
		if necessary {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	n, w, when := words.Count[int64], &r.WouldHave, ""
	if r.Period.From != nil {
		when = days(*r.Period.From, *r.Period.To) + ": "
	}
	search := fmt.Sprintf("%s of search engines", n(w.Search))
	if r.Verified && w.Search > 0 {
		search += fmt.Sprintf(", %s of them verified", n(w.SearchVerified))
	} else if w.Search > 0 {
		search += ", by their own claim"
	}
	say(w.Judged == 0, "%s%s of %s requests are from clients that identify themselves as robots. "+
		"No robots.txt is known for them, so the report cannot say which of them it would have refused.", when, n(r.Robots), n(r.Requests))
	say(w.Judged > 0, "%s%s of %s requests from clients that identify themselves as robots would have been refused (%s).",
		when, n(w.Refused), n(r.Robots), search)
	suspects := cmp.Or(r.Suspects, new(Suspects))
	named := w.Browsers - suspects.Refused
	say(named > 0, "%s with User-Agents of browsers or apps would have been refused, because a group of robots.txt names a word in them.",
		requests(named))
	bound := ""
	if suspects.Bound {
		bound = ". Their requests that would have been refused: " + n(suspects.Refused)
	}
	say(suspects.Clients > 0, "Suspects among the clients with browsers' User-Agents: %s%s.", n(suspects.Clients), bound)
	dearest := r.dearest()
	say(dearest != "", "%s", dearest)
	list = append(list, r.disguised()...)
	say(true, "%s with browsers' User-Agents would not be affected. Robots that send such a User-Agent are included.",
		requests(r.People-suspects.Refused))
	return append(list, "Requests that a CDN or a cache answered are not in this log.")
}

// refused returns the selected crawlers that would have been refused, with the numbers
// of requests; "" if there is none.
func (r *Report) refused(selects func(*Crawler) bool) string {
	var list []string
	for i := range r.Crawlers {
		if c := &r.Crawlers[i]; c.Denied+c.Throttled > 0 && selects(c) {
			refused := words.Count(c.Denied + c.Throttled)
			list = append(list, fmt.Sprintf("%s (%s of %s)", cmp.Or(c.Name, "no User-Agent"), refused, requests(c.Requests)))
		}
	}
	return words.List(list, 5) // clients can invent names
}

// MayBeOwn reports whether the crawler may be a client of the operator: it has no
// purpose that is known, or fetches for a person, and sent at least 10 requests, from
// one or two addresses.
func (c *Crawler) MayBeOwn() bool {
	switch c.Class {
	case crawler.SelfDeclared.String(), crawler.UserTriggered.String(), crawler.Library.String(), crawler.Program.String(),
		crawler.Named.String():
	case crawler.Registered.String(): // of the configuration, without a purpose
		if len(c.Purposes) > 0 {
			return false
		}
	default:
		return false
	}
	return !c.Rest && c.Requests >= 10 && c.Addresses <= 2
}

// dearest names the robot that costs most, if that is a tenth of everything. Health checks
// and monitors are the operator's own.
func (r *Report) dearest() string {
	var dearest *Crawler
	var most cost.Sum
	for i := range r.Crawlers {
		c := &r.Crawlers[i]
		if s := (cost.Sum{Requests: c.Requests, Octets: c.Bytes, Seconds: c.Seconds}); !c.Rest && c.Class != crawler.Probe.String() &&
			s.Share(r.Costs.All) > most.Share(r.Costs.All) {
			dearest, most = c, s
		}
	}
	if dearest == nil || most.Share(r.Costs.All) < 0.1 {
		return ""
	}
	text := fmt.Sprintf("Of all robots, %s cost most: %s (%.0f %% of all), %s (%.0f %%)", cmp.Or(dearest.Name, "clients without a User-Agent"),
		requests(most.Requests), percent(most.Requests, r.Costs.All.Requests), words.Octets(most.Octets),
		percent(most.Octets, r.Costs.All.Octets))
	if r.Costs.All.Seconds > 0 {
		text += fmt.Sprintf(", %s (%.0f %%)", words.Seconds(most.Seconds), 100*most.Seconds/r.Costs.All.Seconds)
	}
	return text + "."
}

func percent(n, of int64) float64 { return 100 * float64(n) / float64(max(of, 1)) }

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
