package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unique"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Decided says what Caddy decided, by its own log. Lists are never nil.
type Decided struct {
	Decided     int64  `json:"decided"`      // requests of which the log has a decision
	Refused     int64  `json:"refused"`      // with 403, 404, 429 or 503 by the robots handler
	WouldRefuse int64  `json:"would_refuse"` // that mode monitor let pass
	Decisions   []*Row `json:"-"`            // that refused requests, or would have, most requests first
	// Shown has the latest refused requests, at most 20.
	Shown []Request `json:"-"`
}

// maxShown is the largest number of Decided.Shown.
const maxShown = 20

var (
	errUndecided = errors.New("the log has no decisions: only Caddy's own log of a site with a robots handler has them, " +
		"in its field robots. Without --decided, the audit says what robots.txt would have refused")
	errNoRules = errors.New("the log has no decisions of Caddy: give the robots.txt of that time with --robots")
)

// countDecided counts a request by the decision in the log.
func (a *auditor) countDecided(v *Judged) {
	d := a.decided
	if !v.setLogged() {
		return
	}
	d.Decided++
	switch {
	case v.logged.Action == judge.Pass.String():
		return
	case strings.HasPrefix(v.logged.Action, "would_"):
		d.WouldRefuse++
	default:
		d.Refused++
	}
	key := *v.logged
	key.GraceEnds = "" // it does not tell decisions apart
	a.rows.count(rowKey{host: v.host, logged: unique.Make(key)}, a.rest, v).Last = v.stamp()
	d.Shown = append(d.Shown, v.shown(a.mask, v.logged))
	if len(d.Shown) >= 2*maxShown {
		d.Shown = slices.Delete(d.Shown, 0, maxShown)
	}
}

// report returns what the log has decided.
func (d *Decided) report(all rows) *Decided {
	d.Decisions = all.sorted()
	d.Shown = append([]Request{}, d.Shown[max(len(d.Shown)-maxShown, 0):]...)
	return d
}

// decidedSummary says what Caddy refused.
func (a *auditor) decidedSummary(r *Report) string {
	if r.Requests == 0 {
		return "The log has no such request."
	}
	text := fmt.Sprintf("Caddy refused %s of %s", words.Count(r.Refused), requests(r.Requests))
	if !a.filter.isAll() {
		text += " for " + a.filter.String()
	}
	if r.WouldRefuse > 0 {
		text += fmt.Sprintf(", and would have refused %s more without mode monitor", words.Count(r.WouldRefuse))
	}
	return text + ". What to change for which reason: https://github.com/caddy-robots/caddy-robots/blob/main/docs/why.md"
}

// decisionTable returns the decisions that refused requests.
func (d *Decided) decisionTable() *Table {
	t := newTable("decisions", "By whom and which line", ">requests", "action", "crawler", "class", "host", "reason", "line", "version", "first", "last")
	for _, row := range d.Decisions {
		t.add(row.Requests, row.Action, named(row.Crawler), row.Class, row.Host, row.Reason, row.Place(), row.Version, row.First, row.Last)
	}
	return t
}

// shownTable returns requests with the decisions on them.
func (r *Report) shownTable() *Table {
	t := newTable("requests", "Requests", "time", "client", "request", ">status", "action", "crawler", "reason", "line", "version", "log")
	for i := range r.Shown {
		q := &r.Shown[i]
		d := q.Robots
		version := d.Version
		if i := slices.IndexFunc(r.Sources, func(s *Source) bool { return s.Tag == version }); i >= 0 && version != "" {
			version += " (" + r.Sources[i].Name + ")"
		}
		t.add(q.Time, q.Client, q.Method+" "+q.Host+q.Target, int64(q.Status), d.Action, d.Crawler, d.Reason, d.Place(), version, q.place())
	}
	return t
}

// Forbidden calls show for each request of a crawler that a rule of robots.txt or of the
// policy forbade, whether it was refused or not, in the order of the logs. The decision is
// that of Caddy's log, or else that of the sites' robots.txt. The name is compared without
// case. After an error of show, which is returned, it is not called again.
func Forbidden(ctx context.Context, o Options, name string, show func(*Request) error) error {
	a, err := newAuditor(ctx, o)
	if err != nil {
		return err
	}
	defer a.logs.Close()
	decisions, failed := false, error(nil)
	err = a.eachRequest(ctx, func(v *Judged) {
		v.decide(v.host.site.lines)
		if !v.setLogged() && v.now().source != nil {
			own := verdict.Of(&v.now().Decision)
			v.logged = &own
		}
		decisions = decisions || v.logged != nil
		if v.logged == nil || !strings.EqualFold(v.logged.Crawler, name) || v.logged.Reason != judge.Disallowed.String() {
			return
		}
		if r := v.shown(a.mask, v.logged); failed == nil {
			failed = show(&r)
		}
	})
	if err == nil && !decisions {
		return errNoRules
	}
	return cmp.Or(err, failed)
}
