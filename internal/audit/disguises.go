package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/internal/audit/mask"
	"github.com/caddy-robots/caddy-robots/internal/logformat"
	"github.com/caddy-robots/caddy-robots/internal/suspect"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Disguise is a browser's User-Agent that robots seem to send: clients with many
// addresses fetched pages of a host with it, and none fetched a file that pages embed,
// as most other browsers did.
type Disguise struct {
	Agent     string `json:"agent"` // the User-Agent
	Host      string `json:"host"`  // "" if the log has no hosts
	Requests  int64  `json:"requests"`
	Addresses int64  `json:"addresses"`
}

// When a User-Agent is a Disguise. Few people are at so many addresses with the same
// User-Agent, and never without their browser's cache; a monitor or an app that polls
// has fewer paths.
const (
	disguiseRequests  = 100
	disguiseAddresses = 20
	disguisePaths     = 20
	// A User-Agent with this number of pages says whether browsers fetch files of the
	// host. There must be a few of them, and more than half must fetch files.
	embeddingPages  = 3
	embeddingAgents = 10
)

const (
	maxDisguises  = 1 << 12 // User-Agents that are watched
	topDisguises  = 10      // in the report
	saidDisguises = 3       // in the summary
)

// disguises counts what clients with browsers' User-Agents fetch.
type disguises struct{ agents map[hostAgent]*agentTally }

// hostAgent is a User-Agent at one host.
type hostAgent struct {
	host *hostTally
	hash uint64
}

type agentTally struct {
	agent            string
	pages            int64
	files            bool // it fetched files; then its addresses and paths do not count
	addresses, paths distinct
}

// count counts a request with a browser's User-Agent. A page that another site's page
// caused, such as a script's request, is left out, and so are clients with a Cookie.
func (d *disguises) count(e *logformat.Entry, host *hostTally) {
	ua := e.UserAgent()
	if _, exact := suspect.ParseBrowser(ua); !exact || e.Method != "GET" || host.Rest {
		return
	}
	page, file := suspect.KindOfTarget(e.Target)
	if dest := e.Fields[logformat.SecFetchDest]; len(dest) > 0 && dest[0] != "document" {
		page, file = false, true // a request of a page that a browser shows
	}
	switch {
	case file:
	case !page, e.Authorized, len(e.Fields[logformat.Cookie])+len(e.Fields[logformat.SecPurpose]) > 0:
		return
	case len(e.Referer) > 1 && !strings.Contains(e.Referer, host.Name):
		return
	}
	key := hostAgent{host, xxhash.Sum64String(ua)}
	t := d.agents[key]
	if t == nil {
		if len(d.agents) >= maxDisguises {
			d.prune()
		}
		t = valueOf(&d.agents, key, func() *agentTally {
			return &agentTally{agent: mask.Shortened(ua), addresses: distinct{precision: 12}, paths: distinct{precision: 12}}
		})
	}
	if file && !t.files {
		t.files, t.addresses, t.paths = true, distinct{}, distinct{}
	}
	if !page {
		return
	}
	if t.pages++; !t.files {
		path, _, _ := strings.Cut(e.Target, "?")
		t.addresses.add(xxhash.Sum64String(e.Client))
		t.paths.add(xxhash.Sum64String(path))
	}
}

// prune forgets the User-Agents with at most the average number of pages.
func (d *disguises) prune() {
	n, sum := int64(len(d.agents)), int64(0)
	for _, t := range d.agents {
		sum += t.pages
	}
	maps.DeleteFunc(d.agents, func(_ hostAgent, t *agentTally) bool { return t.pages*n <= sum })
}

// report adds the disguises to a report.
func (d *disguises) report(r *Report) {
	all, embedding := map[*hostTally]int{}, map[*hostTally]int{}
	for key, t := range d.agents {
		if t.pages < embeddingPages {
			continue
		}
		if all[key.host]++; t.files {
			embedding[key.host]++
		}
	}
	r.Disguises = []Disguise{}
	estimated := false
	for key, t := range d.agents {
		addresses, estimate := t.addresses.count()
		paths, _ := t.paths.count()
		if t.pages < disguiseRequests || addresses < disguiseAddresses || paths < disguisePaths ||
			all[key.host] < embeddingAgents || 2*embedding[key.host] <= all[key.host] {
			continue
		}
		estimated = estimated || estimate
		r.Disguises = append(r.Disguises, Disguise{t.agent, key.host.Name, t.pages, addresses})
	}
	r.estimate("disguises[].addresses", estimated)
	slices.SortFunc(r.Disguises, func(a, b Disguise) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Host, b.Host), strings.Compare(a.Agent, b.Agent))
	})
	r.Disguises = r.Disguises[:min(len(r.Disguises), topDisguises)]
}

// disguised returns sentences about the disguises.
func (r *Report) disguised() (list []string) {
	for _, d := range r.Disguises[:min(len(r.Disguises), saidDisguises)] {
		list = append(list,
			fmt.Sprintf("%s requests with one browser's User-Agent came from %s addresses, and none fetched an image, a style "+
				"or a script. That seems to be a robot: %s.",
				words.Count(d.Requests), words.Count(d.Addresses), d.Agent))
	}
	return list
}
