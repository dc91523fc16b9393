package audit

import (
	"cmp"

	"github.com/caddy-robots/caddy-robots/internal/audit/mask"
	"github.com/caddy-robots/caddy-robots/internal/browser"
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
