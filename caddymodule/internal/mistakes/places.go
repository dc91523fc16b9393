package mistakes

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/siteread"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Place is that of a robots handler that decides nothing, or that clients can miss.
type Place struct {
	Hosts    []string // none for any host
	Name     string   // of the handler
	What     string   // is wrong with thisHandler
	Advice   string   // begins with a small letter
	Kind     string
	Severity string
}

const robotsTxt = "/robots.txt"

const thisHandler = "this robots handler"

// Places finds the places of handlers of one server that are most likely not meant, in
// the order of a walk through its routes. The zero Places is ready for use.
type Places struct {
	robots []placed
	// refusals answer other addresses than those that a matcher lists.
	refusals []refusal
	closed   bool // the server refuses the requests that miss a handler with forwarded_request
}

// refusal is a route that refuses requests for /robots.txt by their address.
type refusal struct {
	route   *routes.Route
	matcher string // as text
}

type placed struct {
	Place
	route    *routes.Route
	isMissed bool // clients can miss it, and it decides on what a proxy asks
	reads    bool
	missedBy string // the matcher by which the handler's own read of robots.txt misses it
}

// Robots are the facts about a robots handler.
type Robots struct {
	Name      string
	Forwarded bool // it decides on what a proxy asks
	Reads     bool // it reads robots.txt through the routes
}

// reader is the address from which a handler reads robots.txt.
var reader = netip.MustParseAddr(siteread.ClientAddress)

// refuses reports whether a handler in JSON serves nothing: it ends the connection, or
// answers with an error, or with another status from least on.
func refuses(handler map[string]any, least string) bool {
	status := fmt.Sprint(handler["status_code"])
	return handler["handler"] == "error" ||
		handler["handler"] == "static_response" && (handler["abort"] == true || len(status) == 3 && status >= least)
}

// Add adds a handler in JSON, at a route of a walk. robots is nil if it is none.
func (l *Places) Add(route *routes.Route, handler map[string]any, robots *Robots) {
	matcher, takes := route.ByAddress(reader)
	if robots == nil {
		if takes && refuses(handler, "300") && route.PassesPath(robotsTxt) { // also redirects
			l.refusals = append(l.refusals, refusal{route, matcher})
		}
		l.closed = l.closed || refuses(handler, "400") && route.Hosts() == nil && route.Matcher() == "" && !route.IsApart()
		return
	}
	l.closed = l.closed || robots.Forwarded && !route.Misses()
	p := placed{Place: place(statusapi.NoRules, route.Hosts(), "", ""), route: route,
		isMissed: robots.Forwarded && route.Misses(), reads: robots.Reads && !route.IsApart()}
	p.Name = robots.Name
	if p.reads && !takes {
		p.missedBy = matcher
	}
	l.robots = append(l.robots, p)
}

// Found returns what is wrong.
func (l *Places) Found() (list []Place) {
	for _, p := range l.robots {
		switch {
		case !p.route.IsReached():
			p.What = "no request reaches " + thisHandler + ", because handlers before it answer all of them, or matchers around it exclude its own"
			p.Advice = "move it up, into a block `route` if need be, or remove it"
		case p.isMissed && !l.closed:
			p.Kind, p.Severity = "forwarded_request", statusapi.Severe
			p.What = "clients can miss forwarded_request of " + thisHandler + ", with another Host or what another matcher does not match: " +
				"they get 200, so that the proxy lets them in"
			p.Advice = "write the site without a host name and other matchers, such as http://:9000, or add such a site with `respond 403`"
		case l.refusing(&p) != "":
			p.What = fmt.Sprintf("the matcher `%s` keeps out the address %s, from which %s reads robots.txt: it knows no rules, and refuses nothing",
				l.refusing(&p), reader, thisHandler)
			p.Advice = fmt.Sprintf("write `source file PATH` into the robots block, or let %s/32 through for /robots.txt: add it to the addresses of that matcher",
				reader)
		default:
			continue
		}
		list = append(list, p.Place)
	}
	return list
}

// refusing returns the matcher that keeps the handler's own read from /robots.txt; "" for none.
func (l *Places) refusing(p *placed) string {
	if p.missedBy != "" || !p.reads {
		return p.missedBy
	}
	i := slices.IndexFunc(l.refusals, func(r refusal) bool { return r.route.SharesHost(p.route) })
	if i < 0 {
		return ""
	}
	return l.refusals[i].matcher
}

// Problems returns the problem for those of its hosts that a scope has, if it has any.
func (p *Place) Problems(scope statusapi.Scope) []statusapi.Problem {
	own := slices.DeleteFunc(slices.Clone(p.Hosts), func(host string) bool { return !scope.Site(host) })
	if !scope.All() && len(own) == 0 {
		return nil
	}
	subject := cmp.Or(strings.Join(own, ", "), "this server")
	return []statusapi.Problem{{Severity: p.Severity, Kind: p.Kind, Subject: subject,
		Message: strings.Replace(p.What, thisHandler, "the robots handler of "+subject, 1), Advice: "In the Caddyfile, " + p.Advice + "."}}
}

// WithoutHandler returns the place of no handler: the configuration has none.
func WithoutHandler() Place {
	return place(statusapi.NoRules, nil, "no site has the line `robots`: no robots.txt is read, and nothing is refused",
		"write `robots` into the blocks of your sites")
}

// Late returns the place of a handler whose requests have all met another robots handler
// before.
func Late(hosts []string) Place {
	return place(statusapi.NoRules, hosts, thisHandler+" has never decided: another one decides before it on all of its requests",
		MeetingAdvice)
}

// Meeting returns the place of handlers of which nobody knows whether a request reaches
// both.
func Meeting(pairs []string) Place {
	what := "requests may reach two robots handlers, and only the first decides: " + pairs[0]
	if n := len(pairs) - 1; n > 0 {
		what += fmt.Sprintf(", and %s more", words.Plural(n, "pair", "pairs"))
	}
	return place("handlers", nil, what, MeetingAdvice)
}

// MeetingAdvice says what to write instead of two handlers that meet.
const MeetingAdvice = "write one robots block for both: `limit` and `exempt_paths` take paths. Or give one of them a matcher that " +
	"excludes the requests of the other, such as `not path /api/*`"

func place(kind string, hosts []string, what, advice string) Place {
	return Place{Hosts: hosts, What: what, Advice: advice, Kind: kind, Severity: statusapi.Warning}
}

// monitorFor is how long nobody has to be reminded of monitor mode.
const monitorFor = 30 * 24 * time.Hour

// Monitored returns the problem that all sites are in monitor mode since a time, if that
// is long ago; zero means that it is not known.
func Monitored(since, now time.Time) []statusapi.Problem {
	if since.IsZero() || now.Sub(since) < monitorFor {
		return nil
	}
	return []statusapi.Problem{{Severity: statusapi.Warning, Kind: statusapi.Monitored, Subject: "monitor mode", Since: new(since.UTC()),
		Message: fmt.Sprintf("all sites are in monitor mode, for %d days at least: nothing is refused", now.Sub(since)/(24*time.Hour)),
		Advice:  "Look at what would be refused. If that is right, remove the line `mode monitor`."}}
}
