package audit

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/limits"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// Pace compares the pace of a crawler with the limit that robots.txt sets for it. A
// budget (see enforce.Budget) is for the requests that the limit counts together:
// usually all those of one crawler at one host or, if anyone can run the crawler, those
// of one client address.
type Pace struct {
	Source int    `json:"source"` // index in Report.Sources
	Line   int    `json:"line"`   // of the limit that throttled most requests, or else of the slowest one; in Layer
	Layer  string `json:"layer"`  // as Rule.Layer
	Text   string `json:"text"`   // the line
	// Interval is the least time between two requests by this limit, in seconds; 0 if
	// it is a Visit-time.
	Interval float64 `json:"interval"`
	// Requests is the number of requests to which the limit applied. Throttled is
	// the number of those that would have got 429.
	Requests  int64 `json:"requests"`
	Throttled int64 `json:"throttled"`
	// Judged is true if the times of the log are exact enough for a verdict.
	// Otherwise Throttled counts only Visit-time.
	Judged bool `json:"judged"`
	// MedianInterval is the median time between two consecutive requests of one
	// budget, in seconds. It is an estimate.
	MedianInterval float64 `json:"median_interval"`
	// Peak is the largest number of requests of one budget within PeakWindow
	// seconds. Factor is Peak divided by the number that the limit allows in that
	// time: 4 means that the crawler was four times too fast at its peak. All three
	// are 0 if Interval is 0 or Judged is false.
	Peak       int64   `json:"peak"`
	PeakWindow float64 `json:"peak_window"`
	Factor     float64 `json:"factor"`
}

// minDelay is the shortest delay that is judged if the times are exact only to a
// second, or are those of the end of requests. With such times, a crawler that keeps to
// the delay can seem to be a second too early.
const minDelay = 2 * time.Second

// reorderWindow is how much earlier, in nanoseconds, a request may be than those before
// it in the log. Servers write a line when a request has ended.
const reorderWindow = int64(time.Minute)

// maxPending is the largest number of requests that wait to be put in order.
const maxPending = 4096

// pacer puts the requests of crawlers with a limited pace in order of time, and
// applies the limits to them.
type pacer struct {
	waiting []*judgement // the earliest first
	settle  func(*judgement)
}

// add adds a request, and judges those that no earlier request can precede. clock is
// the latest time in the log so far.
func (p *pacer) add(v *judgement, clock int64) {
	i, _ := slices.BinarySearchFunc(p.waiting, v.at+1, func(w *judgement, at int64) int { return cmp.Compare(w.at, at) })
	p.waiting = slices.Insert(p.waiting, i, v)
	p.release(clock - reorderWindow)
}

// release judges the pace of the waiting requests up to a time, and more if there are
// more than maxPending.
func (p *pacer) release(until int64) {
	for len(p.waiting) > 0 && (p.waiting[0].at <= until || len(p.waiting) > maxPending) {
		v := p.waiting[0]
		p.waiting[0] = nil
		p.waiting = p.waiting[1:]
		if v.now.Paced() && v.source != nil && v.crawler != nil {
			v.applyPace(v.host.site.now)
		}
		if v.was != nil && v.was.Paced() {
			v.host.was.now.paceOther(v, v.was)
		}
		p.settle(v)
	}
}

// applyPace applies the limits of the pace to the decision by Site.Robots. Where the times
// of the log are not exact enough for a limit, only Visit-time is applied.
func (v *judgement) applyPace(line *timeline) {
	if v.now.Limits == nil {
		line.pace(v, &v.now, true)
	} else {
		own, decided := line.limitsOf(v.now.Group), 0
		t := valueOf(&v.crawler.paces, groupKey{v.source, v.now.Group}, func() *paceTally {
			return newPaceTally(v.source, own, v.timesSufficeFor(own))
		})
		t.add(line.replay.Budget(&v.request, &v.now), v.at)
		line.pace(v, &v.now, t.Judged)
		if v.now.Action != judge.Pass && v.now.Reason != limits.Reason {
			decided = v.source.paceLine(&v.now, own)
			t.Throttled++
			t.by[decided]++
		}
		for _, l := range own {
			v.source.count(ruleKey{line: l.line}, v.crawler, l.line == decided)
		}
	}
	if v.now.Reason == limits.Reason {
		v.source.count(v.source.limitKey(&v.now), v.crawler, true)
	}
}

// paceOther applies the limits to a decision that is not by Site.Robots.
func (t *timeline) paceOther(v *judgement, d *judge.Decision) {
	t.pace(v, d, d.Limits == nil || v.timesSufficeFor(t.limitsOf(d.Group)))
}

// pace applies the limits to one of the decisions on a request.
func (t *timeline) pace(v *judgement, d *judge.Decision, judged bool) {
	before := *d
	q := t.limits.Rates(&v.request, d)
	t.replay.Pace(&v.request, d, q.Uses())
	q.Leave()
	if d.Reason == limits.Reason {
		judged = !slices.ContainsFunc(t.list, func(l limits.Limit) bool {
			return l.All.Per > 0 && !v.timesSuffice(l.All.Per) || l.Each.Per > 0 && !v.timesSuffice(l.Each.Per)
		})
	}
	if d.Action != judge.Pass && d.Reason != judge.VisitTime && !judged {
		*d = before
	}
}

// paceTally measures the pace of a crawler under the limits of one group.
type paceTally struct {
	Pace
	source   *source
	limits   []limit
	by       map[int]int64   // requests that a limit throttled, by its line
	gaps     [gapSteps]int64 // histogram of the times between consecutive requests
	gapCount int64
	window   int64 // length of the window for Peak, in nanoseconds
	budgets  map[throttle.Key]*budgetTally
}

// budgetTally counts the requests of one budget. Times are in nanoseconds since 1970.
type budgetTally struct {
	last  int64 // time of the last request
	begin int64 // begin of the window
	count int64 // requests in the window
}

const (
	// gapSteps and gapsPerOctave define the histogram of gaps: it begins at a
	// microsecond, and each step is 9 % longer than the one before.
	gapSteps      = 400
	gapsPerOctave = 8
	// maxBudgets is the largest number of budgets of one crawler that are measured
	// at a time.
	maxBudgets = 1024
)

// newPaceTally returns a tally for the limits of a group of a source. judged says that the times of
// the log are exact enough for them.
func newPaceTally(src *source, limits []limit, judged bool) *paceTally {
	p := &paceTally{Pace: Pace{Judged: judged}, source: src, by: make(map[int]int64), budgets: make(map[throttle.Key]*budgetTally)}
	interval := time.Duration(0) // of the slowest limit
	for _, l := range limits {
		if l.interval > 0 || l.kind != "crawl-delay" { // a delay of 0 is no limit
			p.limits = append(p.limits, l)
			interval = max(interval, l.interval)
		}
	}
	p.window = int64(max(10*interval, time.Minute))
	return p
}

// add counts a request of a budget.
func (p *paceTally) add(key throttle.Key, at int64) {
	p.Requests++
	b := p.budgets[key]
	if b == nil {
		if len(p.budgets) >= maxBudgets {
			clear(p.budgets)
		}
		p.budgets[key] = &budgetTally{last: at, begin: at, count: 1}
		p.Peak = max(p.Peak, 1)
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
	p.Peak = max(p.Peak, b.count)
}

// gapStep returns the step of the histogram for a gap in nanoseconds.
func gapStep(gap int64) int {
	return min(int(math.Log2(float64(max(gap/1000, 1)))*gapsPerOctave), gapSteps-1)
}

// median returns the median gap in seconds. The error is at most 5 %.
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

// rounded rounds an estimate to two significant digits.
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

// report returns the Pace for the report.
func (p *paceTally) report() *Pace {
	r := p.Pace
	var decided limit
	for i, l := range p.limits {
		if i == 0 || cmp.Or(cmp.Compare(p.by[l.line], p.by[decided.line]), cmp.Compare(l.interval, decided.interval)) > 0 {
			decided = l
		}
	}
	r.Source, r.Interval, r.MedianInterval = p.source.index, decided.interval.Seconds(), p.median()
	if t := p.source.rules[ruleKey{line: decided.line}]; t != nil {
		r.Layer, r.Line, r.Text = t.rule.Layer, t.rule.Line, t.rule.Text
	}
	r.Text = strings.TrimSpace(r.Text)
	if decided.interval > 0 && p.Judged {
		r.PeakWindow = time.Duration(p.window).Seconds()
		r.Factor = rounded(float64(p.Peak) * float64(decided.interval) / float64(p.window))
	} else {
		r.Peak = 0
	}
	return &r
}
