package audit

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Costs says what the requests cost. Crawler has the costs of each crawler.
type Costs struct {
	// All are the costs of all requests, and Robots those of robots. All seconds are those of Timed
	// requests, whose durations the log has.
	All    cost.Sum `json:"all"`
	Timed  int64    `json:"timed"`
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

// Untimed says which requests have no part in the times; "" if all have.
func (r *Costs) Untimed() string {
	switch r.Timed {
	case r.All.Requests:
		return ""
	case 0:
		return "The log does not have the durations of requests: costs are requests and octets."
	}
	return fmt.Sprintf("Only %s of %s have a duration in the log: times, and parts of the time, are those of these alone.", words.Count(r.Timed),
		requests(r.All.Requests))
}

// most says how much what is dearest costs, as far as that is known.
func (r *Costs) most() string {
	if r.Timed > 0 && r.Untimed() != "" {
		return "much"
	}
	return "most"
}

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
