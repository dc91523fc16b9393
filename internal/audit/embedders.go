package audit

import (
	"fmt"
	"maps"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/internal/words"
)

const (
	// A User-Agent with this number of pages that are not the first ones of an address says whether
	// browsers fetch files of the host: if more than half do. From embeddingAgents on, it is certain.
	embeddingPages  = 2
	embeddingAgents = 10
	maxAgents       = 1 << 12 // User-Agents that are watched
)

// embedders counts which browsers fetch the files that the pages of a host embed.
type embedders struct {
	agents map[hostAgent]*agentTally
	// readers are the User-Agents of browsers that read several pages, and fetched those of
	// them that fetched files; see evidence.
	readers, fetched int
}

// hostAgent is a User-Agent at one host.
type hostAgent struct {
	host *hostTally
	hash uint64
}

// agentTally counts the requests with a User-Agent.
type agentTally struct {
	requests int64
	read     int64 // pages of addresses that had requested others
	files    bool  // it fetched files
}

// count counts a request with a browser's User-Agent. reads says that it is for a page, and
// that the address had requested other pages before: most that storm a site have not.
func (m *embedders) count(ua string, host *hostTally, kind requestKind, reads bool) {
	if host.Rest || !reads && kind != embeddedKind {
		return
	}
	if len(m.agents) >= maxAgents {
		m.prune()
	}
	t := valueOf(&m.agents, hostAgent{host, xxhash.Sum64String(ua)}, func() *agentTally { return new(agentTally) })
	t.requests++
	countIf(&t.read, reads)
	t.files = t.files || kind == embeddedKind
}

// prune forgets the User-Agents with at most the average number of requests.
func (m *embedders) prune() {
	n, sum := int64(len(m.agents)), int64(0)
	for _, t := range m.agents {
		sum += t.requests
	}
	maps.DeleteFunc(m.agents, func(_ hostAgent, t *agentTally) bool { return t.requests*n <= sum })
}

// evidence says whether browsers fetch files of a host, so that an address that fetches none
// is lone.
type evidence uint8

const (
	tooFew         evidence = iota // fewer than embeddingAgents say it
	filesElsewhere                 // most do not
	filesHere
)

// evidence returns the evidence for each host.
func (m *embedders) evidence() map[*hostTally]evidence {
	all, with, hosts := map[*hostTally]int{}, map[*hostTally]int{}, map[*hostTally]evidence{}
	for key, t := range m.agents {
		if t.read >= embeddingPages {
			all[key.host]++
			if t.files {
				with[key.host]++
			}
		}
	}
	for host, n := range all {
		m.readers, m.fetched = m.readers+n, m.fetched+with[host]
		switch {
		case 2*with[host] <= n:
			hosts[host] = filesElsewhere
		case n >= embeddingAgents:
			hosts[host] = filesHere
		}
	}
	return hosts
}

// tooFew says why it is not certain which addresses are lone.
func (m *embedders) tooFew() string {
	what := "no browser read several pages in this log."
	if m.readers > 0 {
		what = fmt.Sprintf("only %s of browsers read several pages in this log, and %d fetched images, styles or scripts.",
			words.Plural(m.readers, "version", "versions"), m.fetched)
	}
	return "Too few to tell for certain: " + what +
		" Where people's browsers fetch images, styles and scripts from another host, addresses that requested nothing else may be people."
}
