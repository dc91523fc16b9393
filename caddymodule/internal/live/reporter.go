// Package live reports on the robots handlers of the running configuration: to
// the admin API, the dashboard and the command status. It knows a handler only by
// what the caller fills in, and keeps no state but the modes that the operator
// set, and the file of counters.
//
//	reporter := live.New(live.App{Handlers: handlers, Counters: counters, …})
//	err := statusapi.ServeHTTP(w, r, "health", reporter, statusapi.AllSites())
package live

import (
	"cmp"
	"iter"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/cespare/xxhash/v2"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/advice"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// App is what all handlers of a configuration share. Its functions must be safe
// for concurrent use.
type App struct {
	// Handlers returns the handlers of the configuration. It is called once, for
	// the first report.
	Handlers func() []*Handler
	// Problems returns what is wrong with the places of handlers and, without Sites, with what all
	// sites share.
	Problems func() []statusapi.Problem
	Admin    advice.Admin
	Counters *Counters
	Ceiling  *origins.Ceiling
	Log      *zap.Logger
	Now      func() time.Time // the clock of requests
	Active   func() bool      // the configuration is the last one that was loaded, and all its apps have started
}

// Handler is a robots handler. Its functions must be safe for concurrent use.
type Handler struct {
	*routes.Site
	Module   caddyhttp.MiddlewareHandler // as it is in the routes
	Settings *config.Settings
	SourceID uint64 // the same after a reload and in every process
	Limiter  throttle.Limiter
	Sharer   step.Sharer // nil if no other server shares Limiter
	Verifies bool        // it checks claims

	// Running returns the engine in use and the modes.
	Running func() (*enforce.Engine, *Modes)
	// SetModes replaces the modes.
	SetModes func(*Modes)
	// Views and Explainers are steps.
	Views      []statusapi.Viewer
	Explainers []statusapi.Explainer
	// Budgets list the budgets of steps.
	Budgets []enforce.BudgetsOf
	// Switches are the steps that can be switched off, by name.
	Switches map[string]step.Switch
	// Review returns what is wrong with the settings of steps under rules.
	Review func(*judge.Rules) []statusapi.Problem
	// Problems returns what steps know of, and what is configured and does not run; it may be
	// nil. See statusapi.Diagnoser.
	Problems func(monitored bool) []statusapi.Problem
	// IsVerified reports whether the crawler with a name in the registry is verified by
	// an address now.
	IsVerified func(name string, addr netip.Addr) bool
	// Caller returns a caller for a read of robots.txt that no request causes.
	Caller func(judge.Origin) judge.Caller
}

// Reporter implements statusapi.Reporter. Its methods are safe for concurrent use.
type Reporter struct {
	app      App
	handlers func() []*Handler // sorted by site

	mu      sync.Mutex
	modeSet time.Time // when a mode was last set; zero if never
}

// New returns a Reporter.
func New(app App) *Reporter {
	return &Reporter{app: app, handlers: sync.OnceValue(func() []*Handler {
		list := app.Handlers()
		slices.SortStableFunc(list, func(a, b *Handler) int { return slices.Compare(a.Hosts, b.Hosts) })
		return list
	})}
}

// handlersIn returns the handlers that serve a site in a scope.
func (r *Reporter) handlersIn(scope statusapi.Scope) (list []*Handler) {
	for _, h := range r.handlers() {
		if scope.All() || slices.ContainsFunc(h.Hosts, scope.Site) || slices.ContainsFunc(scope.Hosts(), h.Owns) || h.hasOriginIn(scope) {
			list = append(list, h)
		}
	}
	return list
}

func (h *Handler) engine() *enforce.Engine {
	engine, _ := h.Running()
	return engine
}

// hasOriginIn reports whether the handler has read the robots.txt of a host in a
// scope.
func (h *Handler) hasOriginIn(scope statusapi.Scope) bool {
	origins := h.engine().Origins()
	if !origins.PerOrigin() {
		return false
	}
	for range origins.States(func(o judge.Origin) bool { return scope.Site(o.Host) }) {
		return true
	}
	return false
}

// sitesIn returns the sites of the handler that are in a scope.
func (h *Handler) sitesIn(scope statusapi.Scope) []string {
	return slices.DeleteFunc(append([]string{}, h.Hosts...), func(site string) bool { return !scope.Site(site) })
}

// ownedIn returns the hosts in a scope that belong to sites of the handler.
func (h *Handler) ownedIn(scope statusapi.Scope) []string {
	return slices.DeleteFunc(slices.Clone(scope.Hosts()), func(host string) bool { return !h.Owns(host) })
}

// mode returns the current mode of the hosts of the handler that have no other.
func (h *Handler) mode() string { return h.modes().all.String() }

func (h *Handler) modes() *Modes {
	_, m := h.Running()
	return m
}

// ownsHost reports whether a name is that of a host of the handler that can have a mode
// of its own.
func (h *Handler) ownsHost(name string) bool {
	return counters.IsHostName(name) && (h.Server == nil || h.Owns(name)) && !slices.Equal(h.Hosts, []string{name})
}

// maxDelay returns the longest Crawl-delay that the handler enforces.
func (h *Handler) maxDelay() time.Duration {
	if c := h.Settings.CrawlDelay; c != nil && c.Max != 0 {
		return time.Duration(c.Max)
	}
	return throttle.DefaultMaxDelay
}

// inForce is what is in force at an origin of a handler.
type inForce struct {
	*Handler
	origins.State
	id     originID
	shared bool     // one robots.txt is in force at all origins
	sites  []string // the sites of the handler in the scope, or the hosts in it
}

// compareOrigins orders what is in force: first that whose host a site names, because
// clients can invent the others. https is before http.
func compareOrigins(a, b *inForce) int {
	return cmp.Or(before(!a.Invented, !b.Invented), strings.Compare(a.Origin.Host, b.Origin.Host),
		strings.Compare(b.Origin.Scheme, a.Origin.Scheme), cmp.Compare(a.Origin.Port, b.Origin.Port), cmp.Compare(a.id, b.id))
}

// allInForce returns what is in force at the origins in a scope, in no order. The next one
// overwrites it.
func (r *Reporter) allInForce(scope statusapi.Scope) iter.Seq[*inForce] {
	return func(yield func(*inForce) bool) {
		for _, h := range r.handlersIn(scope) {
			for p := range h.inForce(scope) {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// inForce is allInForce for one handler.
func (h *Handler) inForce(scope statusapi.Scope) iter.Seq[*inForce] {
	return func(yield func(*inForce) bool) {
		origins := h.engine().Origins()
		shared, sites := !origins.PerOrigin(), h.sitesIn(scope)
		if shared && len(sites) == 0 {
			sites = h.ownedIn(scope)
		}
		p := &inForce{Handler: h, shared: shared, sites: sites}
		in := func(o judge.Origin) bool { return shared || scope.Site(o.Host) || scope.Site(h.SiteOf(o.Host)) }
		for p.State = range origins.States(in) {
			if p.id = h.originID(p.Origin, shared); !yield(p) {
				return
			}
		}
	}
}

// inForceAt returns what is in force at the origins in a scope, in no order, or only that
// of the origin with an ID, if it is not "".
func (r *Reporter) inForceAt(scope statusapi.Scope, id string) (list []*inForce, err error) {
	wanted := parseID(id)
	for p := range r.allInForce(scope) {
		if id == "" || p.id == wanted {
			list = append(list, new(*p))
		}
	}
	if id != "" && len(list) == 0 {
		return nil, statusapi.Errorf(http.StatusNotFound, "there is no origin with the id %q", id)
	}
	return list, nil
}

// originID is statusapi.Origin.ID.
type originID uint64

func (id originID) String() string { return strconv.FormatUint(uint64(id), 36) }

// MarshalText implements encoding.TextMarshaler.
func (id originID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. Other texts are 0.
func (id *originID) UnmarshalText(text []byte) error {
	*id = parseID(string(text))
	return nil
}

// parseID is the inverse of String. It returns 0, which no origin has, for another text.
func parseID(text string) originID {
	id, err := strconv.ParseUint(text, 36, 64)
	if err != nil || originID(id).String() != text {
		return 0
	}
	return originID(id)
}

// originID returns the ID of an origin.
func (h *Handler) originID(origin judge.Origin, shared bool) originID {
	if !shared {
		return originIDOf(h.SourceID, origin)
	}
	var d xxhash.Digest
	d.ResetWithSeed(h.SourceID)
	for _, host := range h.Hosts {
		_, _ = d.WriteString(host)
		_, _ = d.WriteString(" ")
	}
	return originID(d.Sum64())
}

// originIDOf is originID for an origin with a file of its own.
func originIDOf(source uint64, origin judge.Origin) originID {
	var d xxhash.Digest
	var short [128]byte
	key := append(append(append(short[:0], origin.Scheme...), "://"...), origin.Host...)
	d.ResetWithSeed(source)
	_, _ = d.Write(append(key, ':', byte(origin.Port>>8), byte(origin.Port)))
	return originID(d.Sum64())
}

// has reports whether p is in force at an origin.
func (p *inForce) has(origin judge.Origin) bool {
	if p.shared {
		return p.Serves(origin.Host)
	}
	return origin == p.Origin
}

// subject returns a name for messages: the host, the sites or the location.
func (p *inForce) subject() string {
	switch {
	case !p.shared:
		return p.Origin.Host
	case p.Settings.SourceKind() == config.SourceInline:
		return strings.Join(p.sites, ", ")
	}
	return plainLocation(p.Settings.Source)
}

// Sites implements statusapi.Reporter.
func (r *Reporter) Sites(scope statusapi.Scope) []string {
	var names []string
	for _, h := range r.handlers() {
		names = append(names, h.sitesIn(scope)...)
	}
	for _, row := range r.app.Counters.View(scope, statusapi.SpanDay).Sites { // also of handlers that the configuration had before
		if row.Pattern == "" && row.Any {
			names = append(names, row.Name)
		}
	}
	for _, host := range scope.Hosts() {
		if r.app.Counters.HasHost(host) {
			names = append(names, host)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// HasSite implements statusapi.Reporter.
func (r *Reporter) HasSite(scope statusapi.Scope, name string) bool {
	for _, h := range r.handlers() {
		serves := func(site string) bool {
			return site == name || site != statusapi.AnySite && routes.MatchesHost(site, name)
		}
		if slices.ContainsFunc(h.Hosts, serves) || h.hasOriginIn(scope) {
			return true
		}
	}
	return r.app.Counters.HasHost(name) || slices.Contains(r.Sites(scope), name)
}

// Interface guards
var _ statusapi.Reporter = (*Reporter)(nil)
