package audit

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/internal/audit/mask"
	"github.com/caddy-robots/caddy-robots/internal/logformat"
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
	// A User-Agent with this number of pages that are not the first ones of an address says whether
	// browsers fetch files of the host: if more than half do. From embeddingAgents on, it is certain.
	embeddingPages  = 2
	embeddingAgents = 10
)

const (
	maxDisguises  = 1 << 12 // User-Agents that are watched
	maxHinted     = 8       // targets of a User-Agent
	topDisguises  = 10      // in the report
	saidDisguises = 3       // in the summary
)

// disguises counts what clients with browsers' User-Agents fetch.
type disguises struct {
	agents map[hostAgent]*agentTally
	kinds  *pathKinds
	// readers are the User-Agents of browsers that read several pages, and embedders those
	// of them that fetched files; see embedding.
	readers, embedders int
}

// hostAgent is a User-Agent at one host.
type hostAgent struct {
	host *hostTally
	hash uint64
}

type agentTally struct {
	agent            string
	pages            int64
	read             int64 // pages of addresses that had requested others
	files            bool  // it fetched files; then its addresses and paths do not count
	addresses, paths distinct
	// hinted are targets that may be files by their names alone. While there are only
	// few, they count as pages: what their folders have may show later.
	hinted []string
}

// count counts a request with a browser's User-Agent. A page that another site's page
// caused, such as a script's request, is left out, and so are clients with a Cookie.
// certain says that not only the path shows the kind, and reads that the address had
// requested other pages before: most that storm a site have not.
func (d *disguises) count(e *logformat.Entry, host *hostTally, kind requestKind, certain, reads bool) {
	if e.Method != http.MethodGet || host.Rest {
		return
	}
	ua, file := e.UserAgent(), kind == embeddedKind
	path, _, _ := strings.Cut(e.Target, "?")
	left := kind == otherKind || e.Authorized || len(e.Fields[logformat.Cookie])+len(e.Fields[logformat.SecPurpose]) > 0 ||
		host.isElsewhere(e.Referer)
	if !file && left {
		return
	}
	key := hostAgent{host, xxhash.Sum64String(ua)}
	t := d.agents[key]
	if t == nil {
		if len(d.agents) >= maxDisguises {
			d.prune()
		}
		t = valueOf(&d.agents, key, func() *agentTally {
			return &agentTally{agent: mask.Shortened(ua), addresses: distinct{precision: 12}}
		})
	}
	if file && !t.files {
		t.hinted = append(t.hinted, strings.Clone(mask.Shortened(path)))
		if certain || len(t.hinted) == maxHinted {
			d.settle(host, t, certain)
		}
	}
	if left || file && t.files {
		return
	}
	countIf(&t.read, reads)
	if t.pages++; !t.files {
		t.addresses.add(xxhash.Sum64String(e.Client))
		if len(t.paths.exact) < disguisePaths { // more of them say nothing more
			t.paths.add(xxhash.Sum64String(path))
		}
	}
}

// settle decides whether the hinted targets are files.
func (d *disguises) settle(host *hostTally, t *agentTally, files bool) {
	if files || slices.ContainsFunc(t.hinted, func(target string) bool {
		return d.kinds.see(host.hash, target, unknownKind, false) == embeddedKind
	}) {
		t.files, t.addresses, t.paths = true, distinct{}, distinct{}
	}
	t.hinted = nil
}

// prune forgets the User-Agents with at most the average number of pages.
func (d *disguises) prune() {
	n, sum := int64(len(d.agents)), int64(0)
	for _, t := range d.agents {
		sum += t.pages
	}
	maps.DeleteFunc(d.agents, func(_ hostAgent, t *agentTally) bool { return t.pages*n <= sum })
}

// evidence says whether browsers fetch files of a host, so that an address that fetches none
// is lone.
type evidence uint8

const (
	tooFew         evidence = iota // fewer than embeddingAgents say it
	filesElsewhere                 // most do not
	filesHere
)

// embedding returns the evidence for each host.
func (d *disguises) embedding() map[*hostTally]evidence {
	all, with, hosts := map[*hostTally]int{}, map[*hostTally]int{}, map[*hostTally]evidence{}
	for key, t := range d.agents {
		d.settle(key.host, t, t.files)
		if t.read >= embeddingPages {
			if all[key.host]++; t.files {
				with[key.host]++
			}
		}
	}
	for host, n := range all {
		d.readers, d.embedders = d.readers+n, d.embedders+with[host]
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
func (d *disguises) tooFew() string {
	what := "no browser read several pages in this log."
	if d.readers > 0 {
		what = fmt.Sprintf("only %s of browsers read several pages in this log, and %d fetched images, styles or scripts.",
			words.Plural(d.readers, "version", "versions"), d.embedders)
	}
	return "Too few to tell for certain: " + what +
		" Where people's browsers fetch images, styles and scripts from another host, addresses that requested nothing else may be people."
}

// report adds the disguises to a report.
func (d *disguises) report(r *Report, embedding map[*hostTally]evidence) {
	r.Disguises = []Disguise{}
	estimated := false
	for key, t := range d.agents {
		addresses, estimate := t.addresses.count()
		paths, _ := t.paths.count()
		if t.pages < disguiseRequests || addresses < disguiseAddresses || paths < disguisePaths || embedding[key.host] != filesHere {
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
