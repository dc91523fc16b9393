package audit

import (
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/audit/software"
	"github.com/caddy-robots/caddy-robots/internal/logformat"
)

// Costs says what the requests cost. Crawler has the costs of each crawler.
type Costs struct {
	// Timed is the number of requests whose duration the log has. If it is 0, the
	// seconds of all costs are 0 and mean nothing.
	Timed int64 `json:"timed"`
	// All are the costs of all requests, and Robots those of robots.
	All    cost.Sum `json:"all"`
	Robots cost.Sum `json:"robots"`
	// Patterns are path patterns with what the requests of robots for them cost, the
	// most expensive first: by seconds if the log has durations, else by requests or
	// octets. Each request is in one of them, at most 50.
	Patterns []cost.Row `json:"patterns"`
}

// leastShare is the share of the costs of robots from which on a pattern has its own
// row. So there are at most 50 rows.
const leastShare = 0.02

// costs adds up what requests cost.
type costs struct {
	Costs
	paths    *cost.Tree // of robots
	software *software.Recogniser
	noted    int // requests that it saw
}

// maxNoted is the number of requests by which software is recognised. To recognise it
// takes as long for a request as all the rest.
const maxNoted = 3000

// costOf returns what a request cost.
func costOf(e *logformat.Entry) cost.Sum {
	return cost.Sum{Requests: 1, Octets: e.Bytes, Seconds: float64(e.Duration) / 1e9}
}

// count adds the costs of a request.
func (c *costs) count(e *logformat.Entry) {
	c.All.Add(costOf(e))
	if e.Lasted {
		c.Timed++
	}
	if e.Status > 0 && e.Status < 400 && c.noted < maxNoted {
		c.noted++
		c.software.Note(e.Target)
	}
}

// countRobot adds the costs of a request of a robot to those of its crawler and its
// path.
func (c *costs) countRobot(e *logformat.Entry, v *judgement, mask masker) {
	sum := costOf(e)
	v.crawler.Seconds += sum.Seconds
	c.Robots.Add(sum)
	target := e.Target
	if v.now.Reason == enforce.Hidden && !mask.full { // hidden paths must not be shown
		target = hidden
	}
	c.paths.Add(v.crawler.Name, target, sum)
}

// report returns the costs for the report.
func (c *costs) report() Costs {
	r := c.Costs
	r.Patterns = append([]cost.Row{}, c.paths.Rows(leastShare)...)
	for i := range r.Patterns {
		r.Patterns[i].What = c.software.What(r.Patterns[i].Pattern)
	}
	return r
}
