package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// percent returns a part of a whole as a percentage, for coordinates in an SVG whose
// width is not known. The result is between 0% and 100%, even for NaN and infinities.
func percent(part, whole float64) string {
	if !(whole > 0) || math.IsNaN(part) || math.IsInf(part, 0) {
		return "0%"
	}
	p := min(max(100*part/whole, 0), 100)
	return strconv.FormatFloat(math.Round(p*100)/100, 'f', -1, 64) + "%"
}

// bar is a rectangle of a chart; Kind is its CSS class.
type bar struct {
	Kind, X, Width string
}

// part is the number of requests for a bar.
type part struct {
	Kind string
	N    int64
}

// bars returns the bars for parts of whole, from left to right. A bar is at least 1 %
// wide, so that it is visible.
func bars(whole int64, parts ...part) (list []bar) {
	at := 0.0
	for _, p := range parts {
		if p.N <= 0 || whole <= 0 {
			continue
		}
		width := max(float64(p.N)/float64(whole), 0.01)
		list = append(list, bar{p.Kind, percent(min(at, 0.99), 1), percent(width, 1)})
		at += width
	}
	return list
}

// tick is a label on an axis.
type tick struct {
	X, Label, Anchor string
}

// span is the period of a chart.
type span struct {
	from, to time.Time
}

// x returns the position of a time as a percentage.
func (s span) x(t time.Time) string { return s.width(s.from, t) }

// width returns the length of a period as a percentage.
func (s span) width(from, to time.Time) string {
	return percent(float64(to.Sub(from)), float64(s.to.Sub(s.from)))
}

// part returns the position of a time, from 0 to 1.
func (s span) part(t time.Time) float64 {
	if !s.to.After(s.from) {
		return 0
	}
	return min(max(float64(t.Sub(s.from))/float64(s.to.Sub(s.from)), 0), 1)
}

// steps are the possible distances between ticks. Longer ones are months and years.
var steps = [...]time.Duration{
	time.Second, 5 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	24 * time.Hour, 2 * 24 * time.Hour, 7 * 24 * time.Hour, 14 * 24 * time.Hour,
}

// maxTicks is the number of labels that fit on the screen of a phone.
const maxTicks = 5

// ticks returns at most maxTicks+1 ticks, at round times.
func (s span) ticks() []tick {
	length := s.to.Sub(s.from)
	if length <= 0 {
		return nil
	}
	for _, step := range steps {
		if length/step <= maxTicks-1 {
			return s.ticksEvery(step)
		}
	}
	return s.ticksOfMonths()
}

// ticksEvery returns ticks at multiples of step after midnight of the first day.
func (s span) ticksEvery(step time.Duration) []tick {
	y, m, d := s.from.Date()
	midnight := time.Date(y, m, d, 0, 0, 0, 0, s.from.Location())
	layout := "15:04"
	if step < time.Minute {
		layout = "15:04:05"
	}
	var list []tick
	for t := midnight.Add(s.from.Sub(midnight).Truncate(step)); !t.After(s.to); t = t.Add(step) {
		if t.Before(s.from) {
			continue
		}
		format := layout
		if t.Hour() == 0 && t.Minute() == 0 && t.Second() == 0 || step >= 24*time.Hour {
			format = "2 Jan"
		}
		list = append(list, s.tick(t, t.Format(format)))
	}
	return list
}

// ticksOfMonths returns ticks at the first day of months or years.
func (s span) ticksOfMonths() []tick {
	months := 12*(s.to.Year()-s.from.Year()) + int(s.to.Month()) - int(s.from.Month()) + 1
	every, format := 1, "Jan 2006"
	for _, n := range [...]int{1, 2, 3, 6, 12} {
		if every = n; months/n < maxTicks {
			break
		}
	}
	if every == 12 {
		every, format = 12*(1+months/12/maxTicks), "2006"
	}
	var list []tick
	first := (int(s.from.Month()) - 1) / min(every, 12) * min(every, 12)
	for i := 0; len(list) < maxTicks; i++ {
		t := time.Date(s.from.Year(), time.Month(1+first+i*every), 1, 0, 0, 0, 0, s.from.Location())
		if t.After(s.to) {
			break
		}
		if !t.Before(s.from) {
			list = append(list, s.tick(t, t.Format(format)))
		}
	}
	return list
}

// tick returns the tick at t. The label of a tick near an end of the axis does not
// extend beyond that end.
func (s span) tick(t time.Time, label string) tick {
	anchor := "middle"
	switch p := s.part(t); {
	case p < 0.06:
		anchor = "start"
	case p > 0.94:
		anchor = "end"
	}
	return tick{s.x(t), label, anchor}
}

// activity is the chart of requests over time.
type activity struct {
	Panels []panel
	Ticks  []tick
	Tips   []string // the tooltip of each step
}

// panel is one of the charts of an activity, which have the same time axis.
type panel struct {
	Peak, Text string
	Areas      []area
}

// area is a filled curve of steps.
type area struct {
	Kind, Name, Path string
}

// panelHeight is the height of a panel in the units of its paths.
const panelHeight = 100

// newActivity returns nil if the activity has fewer than two steps.
func newActivity(a *audit.Activity) *activity {
	n := min(len(a.People), len(a.Robots), len(a.Refused))
	if a.Start == nil || n < 2 || !(a.Step > 0) {
		return nil
	}
	step := time.Duration(a.Step * float64(time.Second))
	at := func(i int) time.Time { return a.Start.UTC().Add(time.Duration(i) * step) }
	chart := &activity{Ticks: span{at(0), at(n)}.ticks()}
	for i := range n {
		chart.Tips = append(chart.Tips, fmt.Sprintf("%s: %s from people, %s from robots, %s of them refused",
			moment(at(i)), words.Count(a.People[i]), words.Count(a.Robots[i]), words.Count(a.Refused[i])))
	}
	for _, p := range []struct {
		name  string
		all   []int64
		areas []area
	}{
		{"People", a.People[:n], []area{{"people", "People", ""}}},
		{"Robots", a.Robots[:n], []area{{"pass", "Robots", ""}, {"deny", "would be refused", curve(a.Refused[:n], slices.Max(a.Robots[:n]))}}},
	} {
		most := slices.Max(p.all)
		if most <= 0 {
			continue
		}
		p.areas[0].Path = curve(p.all, most)
		when, length := moment(at(slices.Index(p.all, most))), words.Seconds(a.Step)
		chart.Panels = append(chart.Panels, panel{
			Peak:  fmt.Sprintf("at most %s in %s", words.Count(most), length),
			Text:  fmt.Sprintf("%s: at most %s in %s, on %s", p.name, words.Plural(most, "request", "requests"), length, when),
			Areas: p.areas,
		})
	}
	return chart
}

// curve returns the path of a filled curve of steps. Each number is 1 unit wide, and
// the height of the panel stands for most.
func curve(list []int64, most int64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "M0 %d", panelHeight)
	last := -1
	for i, n := range list {
		y := panelHeight - int(math.Round(panelHeight*float64(max(min(n, most), 0))/float64(cmp.Or(most, 1))))
		if n > 0 && y == panelHeight {
			y-- // a small number must be visible
		}
		if y != last {
			if last >= 0 {
				fmt.Fprintf(&b, "H%d", i)
			}
			fmt.Fprintf(&b, "V%d", y)
			last = y
		}
	}
	fmt.Fprintf(&b, "H%dV%dZ", len(list), panelHeight)
	return b.String()
}

// The scale of the chart is logarithmic. It goes from slowest times the allowed pace to
// fastest times the allowed pace.
const slowest, fastest = 1.0 / 16, 256.0

// paced returns the crawlers with a limited pace, those with the largest Factor first.
func paced(r *audit.Report) shown[*audit.Crawler] {
	list := r.CrawlersWith(func(c *audit.Crawler) bool { return c.Pace != nil })
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
