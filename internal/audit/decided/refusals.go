package decided

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/mask"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
)

// Refusals says which requests Caddy refused, by its own log. Lists are never nil.
type Refusals struct {
	Hosts       []string     `json:"hosts"` // that were asked for; none: all
	Period      audit.Period `json:"period"`
	Requests    int64        `json:"requests"`     // that were asked for
	Decided     int64        `json:"decided"`      // of these, the log has a decision
	Refused     int64        `json:"refused"`      // with 403, 404, 429 or 503 by the robots handler
	WouldRefuse int64        `json:"would_refuse"` // that mode monitor let pass
	Rows        []*Row       `json:"decisions"`    // most requests first, at most 1,000
	LeftOut     int64        `json:"left_out"`     // refused requests, or such as would be, that Rows does not have
	// Shown has the latest refused requests, at most 20; with a time that was asked for, the
	// first requests of that time, also those that passed.
	Shown   []Request      `json:"shown"`
	Narrow  bool           `json:"-"`       // a client or a time was asked for
	Sources []audit.Source `json:"sources"` // the robots.txt files that were given, with their versions
	Inputs  []audit.Input  `json:"inputs"`
	Notes   []string       `json:"notes"`
	Masked  bool           `json:"masked"` // client addresses and the values of queries are masked
}

// Row counts the requests with one decision.
type Row struct {
	Requests int64  `json:"requests"`
	First    string `json:"first"`
	Last     string `json:"last"`
	rowKey
}

// rowKey identifies a row. The end of grace does not tell rows apart.
type rowKey struct {
	Host string `json:"host"`
	verdict.Decision
}

// The limits of Refusals.
const (
	maxRows  = 1000
	maxShown = 20
)

var errUndecided = errors.New("the log has no decisions: only Caddy's own log of a site with a robots handler has them, " +
	"in its field robots. Without --decided, the audit says what robots.txt would have refused")

// asker collects Refusals.
type asker struct {
	*Query
	Refusals
	rows map[rowKey]*Row
}

// Ask reads the logs and returns which requests were refused.
func Ask(ctx context.Context, q *Query) (*Refusals, error) {
	a := &asker{Query: q, rows: make(map[rowKey]*Row), Refusals: Refusals{Hosts: append([]string{}, q.Hosts...), Rows: []*Row{},
		Shown: []Request{}, Narrow: len(q.Clients) > 0 || !q.From.IsZero(), Masked: !q.Full}}
	anything := false
	r, err := audit.Each(ctx, q.Options, func(j *audit.Judged) {
		anything = anything || len(j.Log.Entry.Robots) > 0
		if q.selects(&j.Log.Entry) {
			a.count(j)
		}
	})
	switch {
	case err != nil:
		return nil, err
	case !anything:
		return nil, errUndecided
	}
	for _, row := range a.rows {
		a.Rows = append(a.Rows, row)
	}
	slices.SortFunc(a.Rows, func(x, y *Row) int {
		return cmp.Or(cmp.Compare(y.Requests, x.Requests), cmp.Compare(x.First, y.First),
			cmp.Compare(x.Host+x.Crawler+x.Rule, y.Host+y.Crawler+y.Rule))
	})
	a.Shown = a.Shown[max(len(a.Shown)-maxShown, 0):]
	a.Period, a.Inputs, a.Notes, a.Refusals.Sources = r.Period, r.Inputs, notes(r), append([]audit.Source{}, r.Sources...)
	return &a.Refusals, nil
}

// count counts a request of the clients that were asked for.
func (a *asker) count(j *audit.Judged) {
	d := logged(j)
	request := func() Request { // an address that was asked for is known
		return newRequest(j, mask.Masker{Full: a.Full || len(a.Clients) > 0}, mask.Masker{Full: a.Full}, d)
	}
	a.Requests++
	if !a.From.IsZero() && len(a.Shown) < maxShown {
		a.Shown = append(a.Shown, request())
	}
	if d == nil {
		return
	}
	a.Decided++
	switch {
	case d.Action == judge.Pass.String():
		return
	case strings.HasPrefix(d.Action, "would_"):
		a.WouldRefuse++
	default:
		a.Refused++
	}
	a.add(j, d)
	if a.From.IsZero() {
		if a.Shown = append(a.Shown, request()); len(a.Shown) >= 2*maxShown {
			a.Shown = slices.Delete(a.Shown, 0, maxShown)
		}
	}
}

// add counts a decision in its row. If there are too many rows, those with the fewest
// requests are left out, so that invented names push out no row that counts.
func (a *asker) add(j *audit.Judged, d *verdict.Decision) {
	key := rowKey{j.Host, *d}
	key.GraceEnds = ""
	row := a.rows[key]
	if row == nil {
		for least := int64(1); len(a.rows) >= maxRows; least *= 2 {
			for key, row := range a.rows {
				if row.Requests <= least {
					a.LeftOut += row.Requests
					delete(a.rows, key)
				}
			}
		}
		row = &Row{First: stamp(&j.Log.Entry), rowKey: key}
		a.rows[key] = row
	}
	row.Requests++
	row.Last = stamp(&j.Log.Entry)
}
