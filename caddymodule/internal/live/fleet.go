package live

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/shared"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// What a server tells the others, and how long it is kept.
const (
	countsSet   = "counts"
	tellEvery   = 10 * time.Second
	aliveFor    = 3 * tellEvery
	toldFor     = time.Hour
	askTimeout  = 2 * time.Second
	allTold     = 8_000_000 // octets of the counts of all servers, so that they take at most 10 MB and 1 MB/s, as bench/hosts measures
	maxTold     = 1 << 19   // octets of a server's counts
	maxSites    = 12_000
	maxCrawlers = 200
	maxRead     = 1 << 22 // octets of a server's counts that are read
	maxName     = 300     // octets
)

// told is what a server tells. A later form that this one can't read must have
// another name for the set.
type told struct {
	Server   string     `json:"server"`
	Sites    []toldSite `json:"sites"`
	More     int        `json:"more,omitempty"` // sites that have no room
	Crawlers []toldSite `json:"crawlers"`

	id string // of the server
	at time.Time
}

// toldSite has the counts of a site or a crawler. Group is the pattern of a host, or
// the class of a crawler.
type toldSite struct {
	Name   string       `json:"n"`
	Group  string       `json:"g,omitempty"`
	Counts [2][5]uint64 `json:"c"` // of the last hour and the last day
}

func (t *toldSite) spans() statusapi.FleetSpans {
	of := func(c [5]uint64) statusapi.FleetCounts {
		return statusapi.FleetCounts{Requests: c[0], Denied: c[1], Throttled: c[2], WouldRefuse: c[3], People: c[4]}
	}
	return statusapi.FleetSpans{Hour: of(t.Counts[0]), Day: of(t.Counts[1])}
}

// addTold adds counts to a list, unless they are all 0.
func addTold(list []toldSite, name, group string, spans statusapi.FleetSpans) []toldSite {
	if spans == (statusapi.FleetSpans{}) {
		return list
	}
	of := func(c statusapi.FleetCounts) [5]uint64 {
		return [5]uint64{c.Requests, c.Denied, c.Throttled, c.WouldRefuse, c.People}
	}
	return append(list, toldSite{name, group, [2][5]uint64{of(spans.Hour), of(spans.Day)}})
}

// compressor and decompressor are used for whole values only.
var (
	compressor, _   = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	decompressor, _ = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxRead), zstd.WithDecoderConcurrency(1))
)

// encode returns what one of several servers tells, in at most its share of allTold
// octets: the sites that have no room are only counted.
func (t *told) encode(servers int) []byte {
	room := min(maxTold, allTold/max(1, servers))
	for {
		text, err := json.Marshal(t)
		if err != nil {
			return nil // its fields are strings and numbers
		}
		if value := compressor.EncodeAll(text, nil); len(value) <= room || len(t.Sites) == 0 {
			return value
		}
		kept := len(t.Sites) * 3 / 4
		t.More, t.Sites = t.More+len(t.Sites)-kept, t.Sites[:kept]
	}
}

// decodeTold reads what a server told. Whoever can write to Redis chose it, so everything
// is bounded.
func decodeTold(value []byte) (t told, err error) {
	text, err := decompressor.DecodeAll(value, nil)
	if err != nil {
		return t, err
	}
	if err = json.NewDecoder(bytes.NewReader(text)).Decode(&t); err != nil {
		return t, err
	}
	t.Server = printable(t.Server)
	t.Sites, t.Crawlers = t.Sites[:min(len(t.Sites), maxSites)], t.Crawlers[:min(len(t.Crawlers), maxCrawlers)]
	for _, list := range [...][]toldSite{t.Sites, t.Crawlers} {
		for i := range list {
			list[i].Name, list[i].Group = printable(list[i].Name), printable(list[i].Group)
		}
	}
	t.More = max(0, t.More)
	return t, nil
}

// printable cuts a text, and replaces what is not printable ASCII.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s[:min(len(s), maxName)])
}

// serverID identifies this server in all its processes, one after the other.
var serverID = sync.OnceValues(func() (id, name string) {
	name, _ = os.Hostname()
	instance, _ := caddy.InstanceID() // without it, servers with the same host name count as one
	return fmt.Sprintf("%016x", xxhash.Sum64String(name+"\n"+instance.String())), printable(name)
})

// fleets returns the fleets of the handlers, with the sites whose budgets each shares.
func (r *Reporter) fleets() map[*shared.Fleet]statusapi.Scope {
	sites := make(map[*shared.Fleet][]string)
	for _, h := range r.handlers() {
		if f, ok := h.Limiter.(*shared.Fleet); ok {
			sites[f] = append(sites[f], h.Hosts...)
		}
	}
	scopes := make(map[*shared.Fleet]statusapi.Scope, len(sites))
	for f, names := range sites {
		scopes[f] = statusapi.Sites(names...)
	}
	return scopes
}

// TellFleet tells the other servers the counts of this one until ctx ends. It returns at
// once without a fleet.
func (r *Reporter) TellFleet(ctx context.Context) {
	fleets := r.fleets()
	for len(fleets) > 0 {
		pause := tellEvery
		for f, scope := range fleets {
			if r.tellTo(ctx, f, scope) != nil {
				pause = time.Second // the fleet reports that Redis is away
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

func (r *Reporter) tellTo(ctx context.Context, f *shared.Fleet, scope statusapi.Scope) error {
	c := f.Connected()
	if c == nil {
		return errors.New("not connected")
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	id, _ := serverID()
	isOthers, err := c.Publish(ctx, countsSet, throttle.Member{Name: id, Time: time.Now()}, r.tell(scope).encode(f.Config.Instances), toldFor)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.twins == nil {
		r.twins = make(map[*shared.Fleet]int)
	}
	if r.twins[f]++; err != nil || !isOthers {
		delete(r.twins, f)
	}
	return err
}

// tell returns the counts of the sites in a scope and of their hosts, the busiest first.
func (r *Reporter) tell(scope statusapi.Scope) *told {
	_, name := serverID()
	t := &told{Server: name}
	for _, one := range r.app.Counters.Spans(scope) {
		t.Sites = addTold(t.Sites, one.Name, one.Pattern, one.FleetSpans)
	}
	list, _ := r.app.Counters.Crawlers(scope, statusapi.CrawlersQuery{Span: statusapi.SpanDay})
	of := func(c statusapi.Counts) statusapi.FleetCounts {
		return statusapi.FleetCounts{Requests: c.Requests, Denied: c.Denied, Throttled: c.Throttled, WouldRefuse: c.WouldDeny + c.WouldThrottle}
	}
	for i := range list {
		t.Crawlers = addTold(t.Crawlers, list[i].Name, list[i].Class, statusapi.FleetSpans{Hour: of(list[i].Hour), Day: of(list[i].Day)})
	}
	busiest := func(a, b toldSite) int {
		return cmp.Or(cmp.Compare(b.Counts[1][0], a.Counts[1][0]), strings.Compare(a.Name, b.Name))
	}
	slices.SortFunc(t.Sites, busiest)
	slices.SortFunc(t.Crawlers, busiest)
	t.Crawlers = t.Crawlers[:min(len(t.Crawlers), maxCrawlers)]
	if n := min(len(t.Sites), maxSites); n < len(t.Sites) {
		t.More, t.Sites = len(t.Sites)-n, t.Sites[:n]
	}
	return t
}

// Fleet implements statusapi.Reporter.
func (r *Reporter) Fleet(scope statusapi.Scope, query statusapi.FleetQuery) (*statusapi.FleetView, error) {
	fleets := r.fleets()
	view := fleetView{FleetView: &statusapi.FleetView{Now: r.app.Now().UTC(), On: len(fleets) > 0}, scope: scope,
		servers: make(map[string]*statusapi.FleetServer), sites: make(map[string]*statusapi.FleetSite),
		crawlers: make(map[string]*statusapi.FleetCrawler)}
	id, _ := serverID()
	for f, sites := range fleets {
		own := r.tell(sites)
		own.id, own.at = id, view.Now
		view.add(true, own)
		list, err := r.told.of(f)
		if err != nil {
			view.Error = plainError(err)
		}
		for i := range list {
			if list[i].id != id {
				view.add(false, &list[i])
			}
		}
	}
	view.finish(query)
	return view.FleetView, nil
}

// toldCache has what the servers of fleets told, so that many viewers cost Redis no more
// than one.
type toldCache struct {
	mu    sync.Mutex
	lists map[*shared.Fleet]*toldList
}

type toldList struct {
	list []told
	err  error
	at   time.Time
}

// of returns what the servers told, at most half of tellEvery ago. If Redis does not answer,
// it returns what they told before, and an error.
func (c *toldCache) of(f *shared.Fleet) ([]told, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.lists[f]
	if known == nil {
		known = new(toldList)
		if c.lists == nil {
			c.lists = make(map[*shared.Fleet]*toldList)
		}
		c.lists[f] = known
	}
	connected := f.Connected()
	if connected == nil || time.Since(known.at) < tellEvery/2 {
		return known.list, known.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	values, err := connected.Published(ctx, countsSet)
	known.at, known.err = time.Now(), err
	if err != nil {
		return known.list, err
	}
	known.list = nil // others read the former one
	for _, v := range values {
		if one, err := decodeTold(v.Value); err == nil && len(v.Name) <= maxName {
			one.id, one.at = v.Name, v.Time
			known.list = append(known.list, one)
		}
	}
	return known.list, nil
}

// fleetView adds up what servers told.
type fleetView struct {
	*statusapi.FleetView
	scope    statusapi.Scope
	servers  map[string]*statusapi.FleetServer
	sites    map[string]*statusapi.FleetSite
	crawlers map[string]*statusapi.FleetCrawler
}

func (v *fleetView) add(own bool, t *told) {
	server := v.servers[t.id]
	if server == nil {
		server = &statusapi.FleetServer{Own: own, Alive: v.Now.Sub(t.at) < aliveFor, Time: t.at.UTC()}
		v.servers[t.id] = server
	}
	for i := range t.Sites {
		s := &t.Sites[i]
		if !v.scope.Host(cmp.Or(s.Group, s.Name), s.Name) {
			continue
		}
		site, spans := v.sites[s.Name], s.spans()
		if site == nil {
			site = &statusapi.FleetSite{Name: s.Name, Pattern: s.Group}
			v.sites[s.Name] = site
		}
		site.Servers++
		site.Add(spans)
		if s.Group == "" || !v.scope.Site(s.Group) { // the counts of a pattern have those of its hosts
			server.Add(spans)
			v.Sum.Add(spans)
		}
	}
	if !v.scope.All() {
		return
	}
	server.Name, server.More = t.Server, server.More+t.More
	for i := range t.Crawlers {
		c := &t.Crawlers[i]
		key := c.Name + "\n" + c.Group
		if v.crawlers[key] == nil {
			v.crawlers[key] = &statusapi.FleetCrawler{Name: c.Name, Class: c.Group}
		}
		v.crawlers[key].Add(c.spans())
	}
}

// finish puts what was added into lists.
func (v *fleetView) finish(query statusapi.FleetQuery) {
	v.Servers, v.Sites, v.Crawlers = []statusapi.FleetServer{}, []statusapi.FleetSite{}, []statusapi.FleetCrawler{}
	for _, s := range v.servers {
		v.Servers = append(v.Servers, *s)
	}
	slices.SortFunc(v.Servers, func(a, b statusapi.FleetServer) int {
		return cmp.Or(before(a.Alive, b.Alive), strings.Compare(a.Name, b.Name), a.Time.Compare(b.Time))
	})
	for _, s := range v.sites {
		if strings.Contains(s.Name, strings.ToLower(query.Name)) {
			v.Sites = append(v.Sites, *s)
		}
	}
	slices.SortFunc(v.Sites, func(a, b statusapi.FleetSite) int {
		return cmp.Or(cmp.Compare(b.Day.Requests, a.Day.Requests), strings.Compare(a.Name, b.Name))
	})
	for _, c := range v.crawlers {
		v.Crawlers = append(v.Crawlers, *c)
	}
	slices.SortFunc(v.Crawlers, func(a, b statusapi.FleetCrawler) int {
		return cmp.Or(cmp.Compare(b.Day.Requests, a.Day.Requests), strings.Compare(a.Name, b.Name), strings.Compare(a.Class, b.Class))
	})
	limit := cmp.Or(query.Limit, 100)
	v.SitesTotal, v.CrawlerTotal = len(v.Sites), len(v.Crawlers)
	v.Sites, v.Crawlers = v.Sites[:min(len(v.Sites), limit)], v.Crawlers[:min(len(v.Crawlers), limit)]
}

// lostFor is how long Redis does not answer before that is an accident.
const lostFor = 10 * time.Second

// fleetAccidents returns the fleets that this server has lost.
func (r *Reporter) fleetAccidents() (list []Accident) {
	_, name := serverID()
	for f, scope := range r.fleets() {
		sites, now := slices.Sorted(slices.Values(scope.Hosts())), time.Now()
		if last := f.LastChange(); last != nil && !last.Up && now.Sub(last.Time) >= lostFor && len(sites) > 0 {
			list = append(list, Accident{Kind: FleetLost, Site: sites[0], Since: last.Time, subject: siteName(sites[0]), sites: sites,
				message: name + ": " + fleetStatus(f, now).Message, advice: fleetAdvice})
		}
	}
	return list
}
