package audit

import (
	"container/heap"
	"math"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// leastDelay is the shortest delay that is judged by times of a second, or of
// the end of a request: as these are, a polite crawler can seem to come a second
// too early.
const leastDelay = 2 * time.Second

// reorder is how long a request is waited for that came earlier than those
// before it in the log: servers write a line when a request has ended.
const reorder = int64(time.Minute)

// maxPending bounds the requests that wait to be put in order.
const maxPending = 4096

// pending are requests of crawlers whose pace is limited, in order of time.
type pending []*verdicts

// Len implements heap.Interface.
func (p pending) Len() int { return len(p) }

// Less implements heap.Interface.
func (p pending) Less(i, j int) bool {
	if p[i].at != p[j].at {
		return p[i].at < p[j].at
	}
	return p[i].order < p[j].order
}

// Swap implements heap.Interface.
func (p pending) Swap(i, j int) { p[i], p[j] = p[j], p[i] }

// Push implements heap.Interface.
func (p *pending) Push(x any) { *p = append(*p, x.(*verdicts)) }

// Pop implements heap.Interface.
func (p *pending) Pop() any {
	old := *p
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*p = old[:len(old)-1]
	return last
}

// queue puts a request in order.
func (a *auditor) queue(v *verdicts) {
	a.order++
	v.order = a.order
	heap.Push(&a.pending, v)
	a.release(a.clock - reorder)
}

// release paces the requests up to a time, and as many as there are too many
// of.
func (a *auditor) release(until int64) {
	for len(a.pending) > 0 && (a.pending[0].at <= until || len(a.pending) > maxPending) {
		a.pace(heap.Pop(&a.pending).(*verdicts))
	}
}

// paceTally is how fast a crawler came, by what one group grants it.
type paceTally struct {
	source    *source
	line      int // of the text
	interval  time.Duration
	judged    bool
	requests  int64
	throttled int64
	gaps      [gapSteps]int64 // between two requests in a row, by a logarithm
	gapCount  int64
	window    int64 // nanoseconds
	peak      int64
	budgets   map[throttle.Key]*budgetTally
}

// budgetTally is what one budget was drawn on for.
type budgetTally struct {
	last  int64
	begin int64 // of the window
	count int64 // in the window
}

const (
	// gapSteps and gapsPerOctave make up the histogram of gaps: from a
	// microsecond up, each step 9 % longer than the one before.
	gapSteps      = 400
	gapsPerOctave = 8
	// maxBudgets bounds the budgets of one crawler whose gaps are looked at.
	maxBudgets = 1024
)

// newPaceTally returns the tally of what a decision's group grants.
func newPaceTally(src *source, d *enforce.Decision, longest time.Duration, judged func(time.Duration) bool) *paceTally {
	p := &paceTally{source: src, judged: true, budgets: make(map[throttle.Key]*budgetTally)}
	consider := func(interval time.Duration, line int, span time.Duration) {
		p.judged = p.judged && judged(span)
		if interval > p.interval || p.line == 0 {
			p.interval, p.line = interval, line
		}
	}
	if delay, ok := d.Group.CrawlDelay(); ok && delay.Delay > 0 {
		delay := min(delay.Delay, longest)
		consider(delay, paceLines(d.Group)[0], delay)
	}
	for _, r := range d.Group.RequestRates() {
		if r.Requests > 0 && r.Per > 0 {
			consider(r.Per/time.Duration(r.Requests), r.Line, r.Per)
		}
	}
	for _, v := range d.Group.VisitTimes() {
		if p.line == 0 {
			p.line = v.Line
		}
	}
	p.window = int64(max(10*p.interval, time.Minute))
	return p
}

// add notes a request of a budget.
func (p *paceTally) add(key throttle.Key, at int64) {
	p.requests++
	b := p.budgets[key]
	if b == nil {
		if len(p.budgets) >= maxBudgets {
			clear(p.budgets)
		}
		p.budgets[key] = &budgetTally{last: at, begin: at, count: 1}
		p.peak = max(p.peak, 1)
		return
	}
	if gap := at - b.last; gap >= 0 {
		p.gaps[gapStep(gap)]++
		p.gapCount++
		b.last = at
	}
	if at-b.begin >= p.window {
		b.begin, b.count = at, 0
	}
	b.count++
	p.peak = max(p.peak, b.count)
}

func gapStep(gap int64) int {
	return min(int(math.Log2(float64(max(gap/1000, 1)))*gapsPerOctave), gapSteps-1)
}

// median returns the median gap in seconds, to one part in 20.
func (p *paceTally) median() float64 {
	if p.gapCount == 0 {
		return 0
	}
	n := int64(0)
	for i, count := range p.gaps {
		if n += count; 2*n >= p.gapCount {
			if i == 0 {
				return 0
			}
			return rounded(math.Exp2((float64(i)+0.5)/gapsPerOctave) / 1e6)
		}
	}
	return 0
}

// rounded keeps two digits: an estimate has no more.
func rounded(f float64) float64 {
	if f <= 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(f))-1)
	if unit < 1 {
		unit = 1 / math.Round(1/unit)
	}
	return math.Round(f/unit) * unit
}

func (p *paceTally) report() *Pace {
	r := &Pace{
		Source: p.source.index, Interval: p.interval.Seconds(), Requests: p.requests, Throttled: p.throttled, Judged: p.judged, MedianInterval: p.median(),
	}
	if t := p.source.rules[ruleKey{line: p.line}]; t != nil {
		r.Layer, r.Line, r.Text = t.rule.Layer, t.rule.Line, t.rule.Text
	}
	r.Text = strings.TrimSpace(r.Text)
	if p.interval > 0 && p.judged {
		r.Peak, r.PeakWindow = p.peak, time.Duration(p.window).Seconds()
		r.Factor = rounded(float64(p.peak) * float64(p.interval) / float64(p.window))
	}
	return r
}
