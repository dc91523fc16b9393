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
	agents                     map[string]*userAgent // which are not described yet
}

// userAgent is a User-Agent of people.
type userAgent struct {
	requests  int64
	isBrowser bool // its form is a browser's
	isExact   bool // it always sends Sec-Fetch-* fields over HTTPS
}

// Limits for people.
const (
	maxPersons = 1 << 15 // User-Agents that are remembered
	topNames   = 20      // names in the report
)

// count counts a request with a User-Agent, and returns what is known of this.
func (p *people) count(ua string) *userAgent {
	p.requests++
	a := p.agents[ua]
	if a == nil {
		if len(p.agents) >= maxPersons {
			p.describe()
		}
		a = valueOf(&p.agents, mask.Shortened(ua), func() *userAgent {
			return &userAgent{isBrowser: browser.IsBrowser(ua), isExact: browser.SendsFetchFields(ua)}
		})
	}
	a.requests++
	return a
}

// describe adds what is remembered to the counts.
func (p *people) describe() {
	for ua, a := range p.agents {
		d := browser.Describe(ua)
		device := cmp.Or(d.Device, "computer")
		if d.Device == "" && d.Mobile {
			device = "phone or tablet"
		}
		*p.browsers.of(d.Browser) += a.requests
		*p.systems.of(d.System) += a.requests
		*p.devices.of(device) += a.requests
	}
	clear(p.agents)
}

// report adds the people to the report.
func (p *people) report(r *Report) {
	p.describe()
	r.People, r.Robots = p.requests, r.Requests-p.requests
	r.Browsers, r.Systems, r.Devices = p.browsers.top(topNames), p.systems.top(topNames), p.devices.top(topNames)
}
