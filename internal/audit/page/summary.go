package page

import (
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// figure is a number in the summary.
type figure struct {
	Value, Name, Note string
}

// figures returns the numbers of the summary.
func figures(r *audit.Report) []figure {
	w := &r.WouldHave
	list := []figure{
		{words.Count(r.Requests), "requests", "of " + words.Plural(r.Lines, "line", "lines") + " read"},
		{words.Count(r.People), "from people", share(r.People, r.Requests) + " of the requests"},
		{words.Count(r.Robots), "from robots", share(r.Robots, r.Requests) + " of the requests"},
	}
	if w.Known {
		list = append(list, figure{words.Count(w.Refused), "would be refused", words.Count(w.Denied) + " denied, " + words.Count(w.Throttled) + " throttled"})
	}
	addresses := words.Count(r.Addresses)
	if estimated(r, "addresses") {
		addresses = "≈ " + addresses
	}
	return append(list,
		figure{addresses, "client addresses", ""},
		figure{words.Octets(r.Bytes), "sent", ""})
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
