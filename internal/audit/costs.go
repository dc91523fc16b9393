package audit

import (
	"cmp"
	"slices"

	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
)

// Costs says what the requests cost. Crawler has the costs of each crawler.
type Costs struct {
	// All are the costs of all requests, and Robots those of robots. If the log has no
	// durations, their seconds are 0 and mean nothing.
	All    cost.Sum `json:"all"`
	Robots cost.Sum `json:"robots"`
	// Lone are the costs of pages that lone addresses with browsers' User-Agents
	// requested (see Strangers), where most requests were theirs.
	Lone cost.Sum `json:"lone"`
	// Patterns are path patterns with what the requests of robots for them cost, and
	// those of Lone, the most expensive first: by seconds if the log has durations, else
	// by requests or octets. Each request is in one of them, at most 100.
	Patterns []cost.Row `json:"-"`
}

// leastShare is the share of the costs of robots from which on a pattern has its own
// row. So there are at most 50 rows.
const leastShare = 0.02

// LoneAddresses is the name of the clients of Costs.Lone.
const LoneAddresses = "lone addresses"

// addLone adds the costs of the pages of lone addresses.
func (r *Costs) addLone(paths []StrangerPath) {
	for i := range paths {
		p := &paths[i]
		if !p.IsLonely() {
			continue
		}
		r.Lone.Add(p.Lone)
		at := slices.IndexFunc(r.Patterns, func(row cost.Row) bool { return row.Pattern == p.Pattern })
		if at < 0 {
			at = len(r.Patterns)
			r.Patterns = append(r.Patterns, cost.Row{Pattern: p.Pattern})
		}
		row := &r.Patterns[at]
		row.Add(p.Lone)
		row.Clients = append(row.Clients, cost.Client{Name: LoneAddresses, Sum: p.Lone})
		slices.SortStableFunc(row.Clients, func(a, b cost.Client) int { return cmp.Compare(b.Share(r.All), a.Share(r.All)) })
	}
	slices.SortStableFunc(r.Patterns, func(a, b cost.Row) int { return cmp.Compare(b.Share(r.All), a.Share(r.All)) })
}
