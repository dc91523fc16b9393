package audit

import (
	"cmp"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// people counts the browsers, systems and devices of people.
type people struct {
	browsers, systems, devices counter
	agents                     map[uint64]*person // by a hash of the User-Agent
}

// person has the counts that a User-Agent of people adds to.
type person struct{ browser, system, device *int64 }

// Limits for people and names.
const (
	maxPersons = 1 << 15 // User-Agents that are remembered
	maxNames   = 1000    // names in a counter
	topNames   = 20      // names in the report
)

// count counts a request with a User-Agent.
func (p *people) count(ua string) {
	hash := xxhash.Sum64String(ua)
	who := p.agents[hash]
	if who == nil {
		if len(p.agents) >= maxPersons || p.agents == nil {
			p.agents = make(map[uint64]*person)
		}
		d := crawler.Describe(ua)
		device := cmp.Or(d.Device, "computer")
		if d.Device == "" && d.Mobile {
			device = "phone or tablet"
		}
		who = &person{p.browsers.of(d.Browser), p.systems.of(d.System), p.devices.of(device)}
		p.agents[hash] = who
	}
	*who.browser++
	*who.system++
	*who.device++
}

// report adds the people to the report.
func (p *people) report(r *Report) {
	r.Browsers, r.Systems, r.Devices = p.browsers.top(topNames), p.systems.top(topNames), p.devices.top(topNames)
}
