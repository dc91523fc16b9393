package page

import (
	"time"

	"github.com/caddy-robots/caddy-robots/internal/audit"
)

// figure is a number in the summary.
type figure struct {
	Value, Name, Note string
}

// figures returns the numbers of the summary.
func figures(r *audit.Report) []figure {
	w := &r.WouldHave
	list := []figure{
		{count(r.Requests), "requests", "of " + plural(r.Lines, "line", "lines") + " read"},
		{count(r.People), "from people", share(r.People, r.Requests) + " of the requests"},
		{count(r.Robots), "from robots", share(r.Robots, r.Requests) + " of the requests"},
	}
	if w.Known {
		list = append(list, figure{count(w.Refused), "would be refused", count(w.Denied) + " denied, " + count(w.Throttled) + " throttled"})
	}
	addresses := count(r.Addresses)
	if estimated(r, "addresses") {
		addresses = "≈ " + addresses
	}
	return append(list,
		figure{addresses, "client addresses", ""},
		figure{octets(r.Bytes), "sent", ""})
}

// legend is the legend for a kind of bar.
type legend struct {
	Kind, Name string
	N          int64
	Share      string
}

// whole returns the bars for all requests: those of people, and those of robots by
// verdict.
func whole(r *audit.Report) ([]bar, []legend) {
	w := &r.WouldHave
	names := []string{"people", "robots, allowed", "denied", "throttled"}
	if !w.Known {
		names[1] = "robots"
	}
	parts := []part{
		{"people", r.People},
		{"pass", r.Robots - w.Refused},
		{"deny", w.Denied},
		{"throttle", w.Throttled},
	}
	var list []legend
	for i, p := range parts {
		if p.n > 0 {
			list = append(list, legend{p.kind, names[i], p.n, share(p.n, r.Requests)})
		}
	}
	return bars(r.Requests, parts...), list
}

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
		chart.Hits = append(chart.Hits, hit{i, moment(from) + ": " + count(a.People[i]) + " from people, " +
			count(a.Robots[i]) + " from robots, " + count(a.Refused[i]) + " of them refused"})
	}
	add := func(name string, all []int64, areas ...area) {
		most, at := peak(all[:n])
		if most == 0 {
			return
		}
		when := moment(start.Add(time.Duration(at) * step))
		chart.Panels = append(chart.Panels, panel{
			Peak:  "at most " + count(most) + " in " + seconds(a.Step),
			Text:  name + ": at most " + plural(most, "request", "requests") + " in " + seconds(a.Step) + ", on " + when,
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
