package fleet

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
)

// What a server tells the others, and how long it is kept. A form of told that this one can't
// read must have another name for the set.
const (
	countsSet   = "server-counts"
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

// told is what a server tells.
type told struct {
	Server   string               `json:"server"`
	Sites    []statusapi.FleetRow `json:"sites"`
	More     int                  `json:"more,omitempty"` // sites that have no room
	Crawlers []statusapi.FleetRow `json:"crawlers"`

	id string // of the server
	at time.Time
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
	for _, list := range [...][]statusapi.FleetRow{t.Sites, t.Crawlers} {
		for i := range list {
			row := &list[i]
			row.Name, row.Pattern, row.Class = printable(row.Name), printable(row.Pattern), printable(row.Class)
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

// tell tells the other servers the counts of this one until ctx ends.
func (r *redis) tell(ctx context.Context) {
	for {
		pause := tellEvery
		if r.tellOnce(ctx) != nil {
			pause = time.Second // the observer reports that Redis is away
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

func (r *redis) tellOnce(ctx context.Context) error {
	own := r.own()
	if own == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	isOthers, err := r.Publish(ctx, countsSet, step.Member{Name: own.id, Time: time.Now()}, own.encode(r.instances), toldFor)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.twins++; err != nil || !isOthers {
		r.twins = 0
	}
	return err
}

// own returns the counts of this server, of the sites of all steps and of their hosts, the
// busiest first; nil without a step.
func (r *redis) own() *told {
	sites, newest := r.sites()
	if newest == nil {
		return nil
	}
	id, name := serverID()
	t := &told{Server: name, id: id, at: clock.Now()}
	t.Sites, t.Crawlers = newest.site.Counts(sites)
	for _, list := range []*[]statusapi.FleetRow{&t.Sites, &t.Crawlers} {
		*list = slices.DeleteFunc(*list, func(row statusapi.FleetRow) bool { return row.FleetSpans == statusapi.FleetSpans{} })
		slices.SortFunc(*list, busiest)
	}
	t.Crawlers = t.Crawlers[:min(len(t.Crawlers), maxCrawlers)]
	if n := min(len(t.Sites), maxSites); n < len(t.Sites) {
		t.More, t.Sites = len(t.Sites)-n, t.Sites[:n]
	}
	return t
}

// busiest orders rows by the requests of a day.
func busiest(a, b statusapi.FleetRow) int {
	return cmp.Or(cmp.Compare(b.Day.Requests, a.Day.Requests), strings.Compare(a.Name, b.Name), strings.Compare(a.Class, b.Class))
}

// Fleet implements step.Sharer: it has the counts of all connections.
func (*Fleet) Fleet(scope statusapi.Scope, query statusapi.FleetQuery) (*statusapi.FleetView, error) {
	v := newView(scope, clock.Now().UTC())
	for _, r := range connections.Values() {
		own := r.own()
		if own == nil {
			continue
		}
		v.add(own, true)
		list, err := r.others()
		if err != nil {
			v.Error = err.Error()
		}
		for i := range list {
			if list[i].id != own.id {
				v.add(&list[i], false)
			}
		}
	}
	v.finish(query)
	return v.FleetView, nil
}

// toldCache has what the servers told, so that many viewers cost Redis no more than one.
type toldCache struct {
	mu   sync.Mutex
	list []told
	err  error
	at   time.Time
}

// others returns what the servers told, this one too, at most half of tellEvery ago. If Redis
// does not answer, it returns what they told before, and an error.
func (r *redis) others() ([]told, error) {
	c := &r.told
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.at) < tellEvery/2 {
		return c.list, c.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	values, err := r.Published(ctx, countsSet)
	c.at, c.err = time.Now(), err
	if err != nil {
		return c.list, err
	}
	c.list = nil // others read the former one
	for _, v := range values {
		if one, err := decodeTold(v.Value); err == nil && len(v.Name) <= maxName {
			one.id, one.at = v.Name, v.Time
			c.list = append(c.list, one)
		}
	}
	return c.list, nil
}

// view adds up what servers told.
type view struct {
	*statusapi.FleetView
	scope           statusapi.Scope
	servers         map[string]*statusapi.FleetServer
	sites, crawlers map[string]*statusapi.FleetRow // by name, and of crawlers class
}

func newView(scope statusapi.Scope, now time.Time) *view {
	return &view{&statusapi.FleetView{Now: now, On: true}, scope, make(map[string]*statusapi.FleetServer),
		make(map[string]*statusapi.FleetRow), make(map[string]*statusapi.FleetRow)}
}

// add adds what a server told.
func (v *view) add(t *told, own bool) {
	server := v.servers[t.id]
	if server == nil {
		server = &statusapi.FleetServer{Own: own, Alive: v.Now.Sub(t.at) < aliveFor, Time: t.at.UTC()}
		v.servers[t.id] = server
	}
	for _, s := range t.Sites {
		if !v.scope.Host(cmp.Or(s.Pattern, s.Name), s.Name) {
			continue
		}
		addRow(v.sites, s.Name, s)
		if s.Pattern == "" || !v.scope.Site(s.Pattern) { // the counts of a pattern have those of its hosts
			server.Add(s.FleetSpans)
			v.Sum.Add(s.FleetSpans)
		}
	}
	if !v.scope.All() {
		return
	}
	server.Name, server.More = t.Server, server.More+t.More
	for _, c := range t.Crawlers {
		addRow(v.crawlers, c.Name+"\n"+c.Class, c)
	}
}

// addRow adds a row of one server to those with the same key.
func addRow(rows map[string]*statusapi.FleetRow, key string, row statusapi.FleetRow) {
	sum := rows[key]
	if sum == nil {
		sum = &statusapi.FleetRow{Name: row.Name, Pattern: row.Pattern, Class: row.Class}
		rows[key] = sum
	}
	sum.Servers++
	sum.Add(row.FleetSpans)
}

// finish puts what was added into lists.
func (v *view) finish(query statusapi.FleetQuery) {
	limit := cmp.Or(query.Limit, 100)
	v.Servers = []statusapi.FleetServer{}
	for _, s := range v.servers {
		v.Servers = append(v.Servers, *s)
	}
	slices.SortFunc(v.Servers, func(a, b statusapi.FleetServer) int {
		gone := func(s *statusapi.FleetServer) int {
			if s.Alive {
				return 0
			}
			return 1
		}
		return cmp.Or(gone(&a)-gone(&b), strings.Compare(a.Name, b.Name), a.Time.Compare(b.Time))
	})
	v.Sites, v.SitesTotal = rowsOf(v.sites, strings.ToLower(query.Name), limit)
	v.Crawlers, v.CrawlerTotal = rowsOf(v.crawlers, "", limit)
}

// rowsOf returns the busiest of the rows with a text in their name, and their number.
func rowsOf(rows map[string]*statusapi.FleetRow, text string, limit int) (list []statusapi.FleetRow, total int) {
	list = []statusapi.FleetRow{}
	for _, row := range rows {
		if strings.Contains(row.Name, text) {
			list = append(list, *row)
		}
	}
	slices.SortFunc(list, busiest)
	return list[:min(len(list), limit)], len(list)
}
