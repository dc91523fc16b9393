package audit

import (
	"cmp"
	"slices"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/audit/mask"
	"github.com/caddy-robots/caddy-robots/internal/browser"
	"github.com/caddy-robots/caddy-robots/internal/logformat"
	"github.com/caddy-robots/caddy-robots/internal/managed"
)

// people counts the requests of people, and their browsers, systems and devices.
type people struct {
	requests                   int64
	browsers, systems, devices counter
	agents                     map[string]*int64 // requests by User-Agent, which are not described yet
}

// Limits for people.
const (
	maxPersons = 1 << 15 // User-Agents that are remembered
	topNames   = 20      // names in the report
)

// count counts a request with a User-Agent.
func (p *people) count(ua string) {
	p.requests++
	n := p.agents[ua]
	if n == nil {
		if len(p.agents) >= maxPersons {
			p.describe()
		}
		n = valueOf(&p.agents, mask.Shortened(ua), func() *int64 { return new(int64) })
	}
	*n++
}

// describe adds what is remembered to the counts.
func (p *people) describe() {
	for ua, n := range p.agents {
		d := browser.Describe(ua)
		device := cmp.Or(d.Device, "computer")
		if d.Device == "" && d.Mobile {
			device = "phone or tablet"
		}
		*p.browsers.of(d.Browser) += *n
		*p.systems.of(d.System) += *n
		*p.devices.of(device) += *n
	}
	clear(p.agents)
}

// report adds the people to the report.
func (p *people) report(r *Report) {
	p.describe()
	r.People, r.Robots = p.requests, r.Requests-p.requests
	r.Browsers, r.Systems, r.Devices = p.browsers.top(topNames), p.systems.top(topNames), p.devices.top(topNames)
}

// outcomes counts what enforcing the rules would have done, for Report.WouldHave.
type outcomes struct {
	WouldHave
	reasons counter
}

// countRequest counts a request, whatever the verdict.
func (o *outcomes) countRequest(v *Judged) {
	if v.now().Known() {
		v.now().source.Requests++
		o.Judged++
	}
}

// countRefused counts a request of a crawler that is refused.
func (o *outcomes) countRefused(v *Judged) {
	countIf(&o.Denied, v.now().Action == judge.Deny)
	countIf(&o.Throttled, v.now().Action == judge.Throttle)
	*o.reasons.of(v.now().Reason.String())++
	isSearch := v.crawler.isSearch()
	countIf(&o.Search, isSearch && v.now().Claim.State != claim.Impostor)
	countIf(&o.SearchVerified, isSearch && v.now().Claim.State == claim.Verified)
	countIf(&o.Browsers, v.isBrowser())
}

// report adds the outcomes to the report.
func (o *outcomes) report(r *Report) {
	r.WouldHave = o.WouldHave
	r.WouldHave.Refused = o.Denied + o.Throttled
	r.WouldHave.Reasons = o.reasons.top(maxNames)
}

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
	Patterns []cost.Row `json:"patterns"`
}

// leastShare is the share of the costs of robots from which on a pattern has its own
// row. So there are at most 50 rows.
const leastShare = 0.02

// costs adds up what requests cost.
type costs struct {
	Costs
	paths *cost.Tree // of robots
}

// costOf returns what a request cost.
func costOf(e *logformat.Entry) cost.Sum {
	return cost.Sum{Requests: 1, Octets: e.Bytes, Seconds: float64(e.Duration) / 1e9}
}

// countRobot adds the costs of a request of a robot to those of its crawler and its
// path.
func (c *costs) countRobot(v *Judged, m mask.Masker) {
	c.Robots.Add(v.Sum)
	target := v.Target
	if v.now().Layer == managed.HiddenLayer && !m.Full { // hidden paths must not be shown
		target = mask.Hidden
	}
	c.paths.Add(v.crawler.Name, target, v.Sum)
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
		sum := cost.Sum{Requests: p.Lone, Octets: p.Octets, Seconds: p.Seconds}
		r.Lone.Add(sum)
		at := slices.IndexFunc(r.Patterns, func(row cost.Row) bool { return row.Pattern == p.Pattern })
		if at < 0 {
			at = len(r.Patterns)
			r.Patterns = append(r.Patterns, cost.Row{Pattern: p.Pattern})
		}
		row := &r.Patterns[at]
		row.Add(sum)
		row.Clients = append(row.Clients, cost.Client{Name: LoneAddresses, Sum: sum})
		slices.SortStableFunc(row.Clients, func(a, b cost.Client) int { return cmp.Compare(b.Share(r.All), a.Share(r.All)) })
	}
	slices.SortStableFunc(r.Patterns, func(a, b cost.Row) int { return cmp.Compare(b.Share(r.All), a.Share(r.All)) })
}

// report returns the costs for the report, with those of the pages of strangers.
func (c *costs) report(strangers []StrangerPath) Costs {
	r := c.Costs
	r.Patterns = append([]cost.Row{}, c.paths.Rows(leastShare)...)
	r.addLone(strangers)
	return r
}
