package page

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// activity is the chart of requests over time.
type activity struct {
	Panels []panel
	Ticks  []tick
	Steps  int
	Hits   []hit
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

// hit is the tooltip of a step.
type hit struct {
	X   int
	Tip string
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
	start := a.Start.UTC()
	s := span{start, start.Add(time.Duration(n) * step)}
	chart := &activity{Ticks: s.ticks(), Steps: n}
	for i := range n {
		from := start.Add(time.Duration(i) * step)
		chart.Hits = append(chart.Hits, hit{i, moment(from) + ": " + words.Count(a.People[i]) + " from people, " +
			words.Count(a.Robots[i]) + " from robots, " + words.Count(a.Refused[i]) + " of them refused"})
	}
	add := func(name string, all []int64, areas ...area) {
		most, at := peak(all[:n])
		if most == 0 {
			return
		}
		when := moment(start.Add(time.Duration(at) * step))
		chart.Panels = append(chart.Panels, panel{
			Peak:  "at most " + words.Count(most) + " in " + seconds(a.Step),
			Text:  name + ": at most " + words.Plural(most, "request", "requests") + " in " + seconds(a.Step) + ", on " + when,
			Areas: areas,
		})
	}
	people, _ := peak(a.People[:n])
	robots, _ := peak(a.Robots[:n])
	add("People", a.People, area{"people", "People", curve(a.People[:n], people)})
	add("Robots", a.Robots, area{"pass", "Robots", curve(a.Robots[:n], robots)}, area{"deny", "would be refused", curve(a.Refused[:n], robots)})
	return chart
}

// peak returns the largest number of a list and its index.
func peak(list []int64) (most int64, at int) {
	for i, n := range list {
		if n > most {
			most, at = n, i
		}
	}
	return most, at
}

// curve returns the path of a filled curve of steps. Each number is 1 unit wide, and
// the height of the panel stands for most.
func curve(list []int64, most int64) string {
	var b strings.Builder
	b.WriteString("M0 " + strconv.Itoa(panelHeight))
	last := -1
	for i, n := range list {
		y := panelHeight
		if most > 0 {
			y = panelHeight - int(math.Round(panelHeight*float64(max(min(n, most), 0))/float64(most)))
		}
		if n > 0 && y == panelHeight {
			y-- // a small number must be visible
		}
		if y != last {
			if last >= 0 {
				b.WriteString("H" + strconv.Itoa(i))
			}
			b.WriteString("V" + strconv.Itoa(y))
			last = y
		}
	}
	b.WriteString("H" + strconv.Itoa(len(list)) + "V" + strconv.Itoa(panelHeight) + "Z")
	return b.String()
}
