package page

import (
	"cmp"
	"math"
	"slices"

	"github.com/caddy-robots/caddy-robots/internal/audit"
)

// paceRow compares the pace of a crawler with its limit.
type paceRow struct {
	*audit.Pace
	Label string
	About bool // MedianInterval is an estimate
	Rule  place
	Limit string // position of 1 on the scale
	X     string // position of the bar from 1 to Factor
	Width string
	Kind  string
}

// The scale of the chart is logarithmic. It goes from slowest times the allowed pace to
// fastest times the allowed pace.
const slowest, fastest = 1.0 / 16, 256.0

// paceRows returns the crawlers with a limited pace, those with the largest Factor
// first.
func paceRows(r *audit.Report, places places) (rows []paceRow, left int) {
	for i := range r.Crawlers {
		c := &r.Crawlers[i]
		if c.Pace == nil {
			continue
		}
		p := c.Pace
		row := paceRow{Pace: p, Label: label(c), About: estimated(r, "crawlers[].pace.median_interval"), Rule: places.of(p.Source, p.Layer, p.Line, p.Text)}
		row.Limit = percent(logarithmic(1), 1)
		if p.Factor > 0 {
			at, one := logarithmic(p.Factor), logarithmic(1)
			row.X, row.Width, row.Kind = percent(min(at, one), 1), percent(math.Abs(at-one), 1), "pass"
			if p.Throttled > 0 {
				row.Kind = "throttle"
			}
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b paceRow) int { return cmp.Compare(b.Factor, a.Factor) })
	return cut(rows, maxPaces)
}

// logarithmic returns the position of a factor on the scale, from 0 to 1.
func logarithmic(factor float64) float64 {
	return math.Log(min(max(factor, slowest), fastest)/slowest) / math.Log(fastest/slowest)
}

// paceTicks returns the labels of the scale.
func paceTicks() []tick {
	return []tick{
		{percent(logarithmic(1.0/4), 1), "¼ ×", "middle"},
		{percent(logarithmic(1), 1), "1 ×", "middle"},
		{percent(logarithmic(4), 1), "4 ×", "middle"},
		{percent(logarithmic(16), 1), "16 ×", "middle"},
		{percent(logarithmic(64), 1), "64 ×", "middle"},
	}
}
