package audit

import (
	"cmp"
	"slices"
	"strings"
	"unique"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Row counts the requests of one client for one host that were decided alike. What a report
// says about crawlers, hosts and the lines of robots.txt are sums over rows.
type Row struct {
	rowKey
	cost.Sum
	First string // its time, in UTC with milliseconds; "" if the log has none
	Last  string
	Host  string
	verdict.Decision
	// Was is the verdict by Site.Was, and Example the first request, if the row was compared.
	Was     *verdict.Verdict
	Example *Request
}

// rowKey tells rows apart: those of decisions that Caddy's log has by host and logged alone.
type rowKey struct {
	host   *Host
	client *Crawler
	source *Source       // nil if no robots.txt is known
	group  *robots.Group // that applies
	outcome
	claim    claim.State
	paced    bool // the limits of the group's pace apply
	browser  bool // it is refused, and the User-Agent is that of a browser or app
	logged   unique.Handle[verdict.Decision]
	compared bool // it is refused, or was by Site.Was
	was      outcome
}

// isLogged reports whether Caddy's log has the decision.
func (k *rowKey) isLogged() bool { return k.logged != unique.Handle[verdict.Decision]{} }

// outcome is a verdict, and the line that decided.
type outcome struct {
	lineKey
	action judge.Action
	reason judge.Reason
}

// maxCounted is the largest number of rows that hosts and names can add.
const maxCounted = 1 << 14

// rows counts requests by what was decided.
type rows map[rowKey]*Row

// count counts a request with a key. If there are too many rows, it counts with the key rest.
func (r rows) count(key rowKey, rest func(rowKey) rowKey, v *Judged) *Row {
	row := r[key]
	if row == nil && len(r) >= maxCounted {
		key = rest(key)
		row = r[key]
	}
	if row == nil {
		row = &Row{rowKey: key, Host: key.host.Name, First: v.stamp()}
		row.Decision = verdict.Of(&v.now().Decision)
		if key.isLogged() {
			row.Decision = key.logged.Value()
		}
		row.Crawler = strings.Clone(row.Crawler)
		r[key] = row
	}
	row.Add(v.Sum)
	return row
}

// rowKey returns the key of the request's row.
func (v *Judged) rowKey() rowKey {
	d := v.now()
	key := rowKey{host: v.host, client: v.crawler, source: d.source, group: d.Group, outcome: d.outcome(), claim: d.Claim.State,
		paced: d.Limits != nil && v.Entry.Timed, browser: d.Action != judge.Pass && v.isBrowser()}
	if v.isComparable() && (d.Action != judge.Pass || v.Rulings[1].Action != judge.Pass) {
		key.compared, key.was = true, v.Rulings[1].outcome()
	}
	return key
}

// outcome returns what was decided.
func (r *Ruling) outcome() outcome {
	o := outcome{lineKey: lineKey{layer: r.Layer, line: r.Line}, action: r.Action, reason: r.Reason}
	info := r.Layer.Info()
	switch {
	case r.Action != judge.Pass && r.Layer != judge.NoLayer && !info.Published && !info.Secret: // a step's
		o.step = r.RuleText()
	case r.Action != judge.Throttle:
		o.text = r.Rule.Line
	}
	return o
}

// rest returns the key of the row for requests whose own row has no room.
func (a *auditor) rest(key rowKey) rowKey {
	key.host = a.hosts.rest
	switch {
	case key.isLogged():
		key.logged = unique.Make(verdict.Decision{Crawler: otherName, Verdict: verdict.Verdict{Action: key.logged.Value().Action}})
	case key.client != nil:
		key.client = a.crawlers.restOf(key.client.class)
	}
	return key
}

// sum adds the rows to the verdicts on crawlers, hosts and all requests.
func (r rows) sum(to *WouldHave) {
	for _, row := range r {
		if row.client == nil {
			continue
		}
		c := row.client
		addIf(&c.Verified, row.claim == claim.Verified, row.Requests)
		addIf(&c.Impostor, row.claim == claim.Impostor, row.Requests)
		addIf(&c.Unverified, row.claim == claim.Unverified, row.Requests)
		if row.source == nil || row.action == judge.Pass {
			continue
		}
		row.host.Refused += row.Requests
		for _, refused := range []*int64{&c.Denied, &to.Denied} {
			addIf(refused, row.action == judge.Deny, row.Requests)
		}
		for _, refused := range []*int64{&c.Throttled, &to.Throttled} {
			addIf(refused, row.action == judge.Throttle, row.Requests)
		}
		paced := row.reason.Info().Field != "" && row.group != row.source.inForce.File().Star()
		if c.Known && row.claim != claim.Impostor && !paced {
			addIf(&c.VerifiedRefused, row.claim == claim.Verified, row.Requests)
			addIf(&c.ClaimsRefused, row.claim != claim.Verified, row.Requests)
		}
		addIf(&to.Search, row.isOfSearch(), row.Requests)
		addIf(&to.SearchVerified, row.isOfSearch() && row.claim == claim.Verified, row.Requests)
		addIf(&to.Browsers, row.browser, row.Requests)
	}
	to.Refused = to.Denied + to.Throttled
}

// sorted returns the rows, most requests first.
func (r rows) sorted() []*Row {
	list := []*Row{}
	for _, row := range r {
		list = append(list, row)
	}
	slices.SortFunc(list, func(x, y *Row) int {
		return cmp.Or(cmp.Compare(y.Requests, x.Requests), cmp.Compare(x.First, y.First), cmp.Compare(x.Host+x.Crawler+x.Rule, y.Host+y.Crawler+y.Rule))
	})
	return list
}
