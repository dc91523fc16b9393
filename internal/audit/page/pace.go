package page

import (
	"cmp"
	"math"
	"slices"

	"github.com/caddy-robots/caddy-robots/internal/audit"
)

// The scale of the chart is logarithmic. It goes from slowest times the allowed pace to
// fastest times the allowed pace.
const slowest, fastest = 1.0 / 16, 256.0

// paced returns the crawlers with a limited pace, those with the largest Factor first.
func paced(r *audit.Report) shown[*audit.Crawler] {
	list := crawlersWith(r, func(c *audit.Crawler) bool { return c.Pace != nil })
	slices.SortStableFunc(list, func(a, b *audit.Crawler) int { return cmp.Compare(b.Pace.Factor, a.Pace.Factor) })
	return cut(list, maxPaces)
}

// paceBar returns the bar from the allowed pace to that of the crawler.
func paceBar(p *audit.Pace) bar {
	at, one := logarithmic(p.Factor), logarithmic(1)
	b := bar{"pass", percent(min(at, one), 1), percent(math.Abs(at-one), 1)}
	if p.Throttled > 0 {
		b.Kind = "throttle"
	}
	return b
}

// logarithmic returns the position of a factor on the scale, from 0 to 1.
func logarithmic(factor float64) float64 {
	return math.Log(min(max(factor, slowest), fastest)/slowest) / math.Log(fastest/slowest)
}

// paceTicks returns the labels of the scale.
func paceTicks() (ticks []tick) {
	for i, label := range []string{"¼ ×", "1 ×", "4 ×", "16 ×", "64 ×"} {
		ticks = append(ticks, tick{percent(logarithmic(math.Pow(4, float64(i-1))), 1), label, "middle"})
	}
	return ticks
}
