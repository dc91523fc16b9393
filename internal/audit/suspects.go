package audit

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit/mask"
	"github.com/caddy-robots/caddy-robots/internal/logformat"
	"github.com/caddy-robots/caddy-robots/internal/suspect"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// SuspectRules say how a site looks for suspects: robots that send the User-Agent of a
// browser. See package suspect.
type SuspectRules struct {
	Traps []suspect.Trap
	Bind  bool          // the path rules of the group for * apply to suspects
	For   time.Duration // how long a client stays a suspect after its last signal; 0: suspect.DefaultFor
}

// Suspects has the clients that would have become suspects: they send a browser's
// User-Agent and behave like robots. A client, which package suspect also calls a
// visitor, is an address (IPv6: a /64) with a complete User-Agent at one host.
type Suspects struct {
	// Looked is the number of requests that were checked: those over TLS, with one
	// User-Agent field and without Cookie and Authorization fields, from addresses that
	// are not masked, if the log has their header fields and their times to the second.
	Looked int64 `json:"looked"`
	// Unknown is the number of requests of People whose header fields are not in the
	// log. They were not checked.
	Unknown int64 `json:"unknown"`
	// Known is true if the log has the fields by which suspects are found. Otherwise
	// the figures below are 0 and mean nothing.
	Known bool `json:"known"`
	// Clients is the number of different clients that would have become suspects.
	// Found counts each time that a client would have become one: a client may stop
	// being a suspect and become one again.
	Clients int64 `json:"clients"`
	Found   int64 `json:"found"`
	// Requests is the number of requests that clients sent while they were suspects.
	Requests int64 `json:"requests"`
	// Refused is the number of these requests that the path rules of the group for *
	// would have refused, at sites with SuspectRules.Bind. WouldHave.Browsers includes
	// them, WouldHave.Refused does not.
	Refused int64 `json:"refused"`
	// Bound is true if a site has SuspectRules.Bind.
	Bound bool `json:"bound"`
	// Signals are the signals that were raised, ordered by Found, most first, then by
	// Raised.
	Signals []SuspectSignal `json:"signals"`
}

// SuspectSignal counts one suspect.Signal.
type SuspectSignal struct {
	Name   string `json:"name"` // the String of a suspect.Signal, such as robots_txt
	Strong bool   `json:"strong"`
	Raised int64  `json:"raised"` // how often it was raised, even by clients that are no suspects
	Found  int64  `json:"found"`  // how many of Suspects.Found had it when they became suspects
}

// suspects applies the SuspectRules of the sites to the requests of a log.
type suspects struct {
	Suspects
	watch   *suspect.Watch
	request suspect.Request
	clients distinct
	became  bool // the current request made its client a suspect
	fetch   bool // a request had Sec-Fetch-* fields
	signals map[suspect.Signal]*SuspectSignal
}

// newSuspects returns nil if no site looks for suspects.
func newSuspects(sites []*site) *suspects {
	if !slices.ContainsFunc(sites, func(s *site) bool { return s.Suspects != nil }) {
		return nil
	}
	s := &suspects{clients: distinct{precision: 14}}
	s.Bound = slices.ContainsFunc(sites, func(s *site) bool { return s.Suspects != nil && s.Suspects.Bind })
	s.watch = suspect.NewWatch(suspect.Config{Observer: s})
	s.request.Header = make(http.Header, len(logformat.FieldNames))
	return s
}

// Raised implements suspect.Observer.
func (s *suspects) Raised(signal suspect.Signal) { s.signal(signal).Raised++ }

// signal returns the counts of a signal.
func (s *suspects) signal(signal suspect.Signal) *SuspectSignal {
	return valueOf(&s.signals, signal, func() *SuspectSignal { return &SuspectSignal{Name: signal.String(), Strong: signal.Strong()} })
}

// Suspected implements suspect.Observer.
func (s *suspects) Suspected(found *suspect.Suspect) {
	s.Found++
	s.became = true
	for _, c := range found.Signals {
		s.signal(c.Signal).Found++
	}
}

// count checks a request with a browser's User-Agent, and counts it. rules are those
// that were in force.
func (s *suspects) count(e *logformat.Entry, v *judgement, rules *judge.Rules) {
	settings, r := v.host.site.Suspects, &s.request
	if settings == nil {
		return
	}
	if !e.HasFields {
		s.Unknown++
		return
	}
	if !s.fill(e, v.host) {
		return
	}
	r.Trap = suspect.NoHit
	if v.source != nil {
		r.Trap = hitOf(settings.Traps, e.Target, rules)
	}
	s.Looked++
	s.became = false
	standing := s.watch.See(r, cmp.Or(settings.For, suspect.DefaultFor))
	if s.became {
		network := suspect.Network(r.Client)
		s.clients.add(xxhash.Sum64String(string(network[:]) + r.Site + "\n" + r.UserAgent))
	}
	if !standing.Suspect {
		return
	}
	s.Requests++
	if settings.Bind && standing.Page && v.source != nil && rules.DisallowsStar(e.Target) {
		s.Refused++
	}
}

// fill fills s.request, and reports whether the request can be checked. The conditions
// are those of the handler. A masked address is excluded too, because it stands for many
// clients.
func (s *suspects) fill(e *logformat.Entry, h *hostTally) bool {
	for _, values := range e.Fields[logformat.SecFetchSite : logformat.SecFetchUser+1] {
		s.fetch = s.fetch || len(values) > 0
	}
	if !e.Timed || e.Resolution > int64(time.Second) || e.Authorized || len(e.UserAgents) != 1 || h.Rest ||
		len(e.Fields[logformat.Cookie]) > 0 || !secure(e) || ambiguous(e) {
		return false
	}
	client, err := netip.ParseAddr(e.Client)
	if err != nil || isMaskedAddress(e.Client) {
		return false
	}
	r := &s.request
	r.Site, r.Client, r.Method, r.Target, r.UserAgent = h.origin.Host, client, e.Method, e.Target, e.UserAgents[0]
	r.Secure, r.RobotsTxt, r.Time, r.Connection = true, judge.IsRobotsTxt(e.Target), e.Time(), ""
	if !proxied(e) {
		r.Connection = e.Port
	}
	for i, name := range logformat.FieldNames {
		if len(e.Fields[i]) > 0 {
			r.Header[name] = e.Fields[i]
		} else {
			delete(r.Header, name)
		}
	}
	return true
}

// proxied reports whether the client's address is from a trusted proxy.
func proxied(e *logformat.Entry) bool { return e.Remote != "" && e.Client != e.Remote }

// secure reports whether the client sent the request over TLS. Behind a trusted proxy,
// X-Forwarded-Proto says so.
func secure(e *logformat.Entry) bool {
	if proto := e.Fields[logformat.XForwardedProto]; proxied(e) && len(proto) > 0 {
		return len(proto) == 1 && strings.EqualFold(proto[0], "https")
	}
	return e.TLS
}

// ambiguous reports whether X-Forwarded-For of a trusted proxy has several addresses.
func ambiguous(e *logformat.Entry) bool {
	values := e.Fields[logformat.XForwardedFor]
	return proxied(e) && len(values) > 0 && (len(values) > 1 || strings.Contains(values[0], ","))
}

// hitOf returns StaticHit for a target below a trap that is in force. Without the
// servers' key, the audit cannot check for which client a trap URL was minted.
func hitOf(traps []suspect.Trap, target string, rules *judge.Rules) suspect.Hit {
	for _, trap := range traps {
		if strings.HasPrefix(target, string(trap)) {
			if _, ok := rules.DisallowsEveryGroup(target); ok {
				return suspect.StaticHit
			}
		}
	}
	return suspect.NoHit
}

// report adds the suspects to a report. A log in which no request has Sec-Fetch-*
// fields says nothing about suspects: these fields were removed from it, so that people
// look like robots.
func (s *suspects) report(r *Report) {
	out := &s.Suspects
	r.Suspects, out.Signals = out, []SuspectSignal{}
	if out.Known = out.Looked > 0 && s.fetch; !out.Known {
		out.Found, out.Requests, out.Refused = 0, 0, 0
		return
	}
	var estimated bool
	out.Clients, estimated = s.clients.count()
	r.estimate("suspects.clients", estimated)
	for _, signal := range s.signals {
		out.Signals = append(out.Signals, *signal)
	}
	slices.SortFunc(out.Signals, func(x, y SuspectSignal) int {
		return cmp.Or(cmp.Compare(y.Found, x.Found), cmp.Compare(y.Raised, x.Raised), strings.Compare(x.Name, y.Name))
	})
	r.WouldHave.Browsers += out.Refused
}

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
	// browsers fetch files of the host. There must be a few of them, and more than half
	// must fetch files.
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
	kinds  *suspect.Kinds
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
func (d *disguises) count(e *logformat.Entry, host *hostTally, kind suspect.Kind, certain, reads bool) {
	if e.Method != http.MethodGet || host.Rest {
		return
	}
	ua, file := e.UserAgent(), kind == suspect.Embedded
	path, _, _ := strings.Cut(e.Target, "?")
	left := kind == suspect.Other || e.Authorized || len(e.Fields[logformat.Cookie])+len(e.Fields[logformat.SecPurpose]) > 0 ||
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
		if t.hinted = append(t.hinted, strings.Clone(mask.Shortened(path))); certain || len(t.hinted) == maxHinted {
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
		return d.kinds.See(host.hash, target, suspect.Unknown, false) == suspect.Embedded
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

// embedding returns the hosts of which most browsers fetch files.
func (d *disguises) embedding() map[*hostTally]bool {
	all, with, hosts := map[*hostTally]int{}, map[*hostTally]int{}, map[*hostTally]bool{}
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
		hosts[host] = n >= embeddingAgents && 2*with[host] > n
	}
	return hosts
}

// report adds the disguises to a report.
func (d *disguises) report(r *Report, embedding map[*hostTally]bool) {
	r.Disguises = []Disguise{}
	estimated := false
	for key, t := range d.agents {
		addresses, estimate := t.addresses.count()
		paths, _ := t.paths.count()
		if t.pages < disguiseRequests || addresses < disguiseAddresses || paths < disguisePaths || !embedding[key.host] {
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
