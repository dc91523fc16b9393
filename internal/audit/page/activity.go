package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

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
		when, length := moment(at(slices.Index(p.all, most))), seconds(a.Step)
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
