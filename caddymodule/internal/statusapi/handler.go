package statusapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
)

// ServeHTTP answers a request with data of a Reporter. path is the part
// after /robots/, such as "lines", or "" for the status.
func ServeHTTP(w http.ResponseWriter, r *http.Request, path string, reporter Reporter, scope Scope) error {
	name := strings.TrimSuffix(path, "/")
	found, ok := routes[name]
	if !ok || name == switchRoute {
		found, ok = routes[switchRoute], reporter.HasSwitch(name)
	}
	if !ok {
		return Errorf(http.StatusNotFound,
			"there is no route %.100q: want lines, check, health, refresh, budgets/reset, mode or a step that can be switched off", name)
	}
	found.name, found.anyHost = name, name == "mode" || reporter.HasSwitch(name) // which may be set before the first request to a host
	return found.serve(w, r, reporter, scope)
}

// switchRoute stands for the names of steps that can be switched.
const switchRoute = "NAME"

// routes has the routes of the admin API.
var routes = map[string]route{
	"": get(Reporter.Status, func(p *params) Query {
		return Query{Span: cmp.Or(p.choice("span", SpanHour, SpanDay, SpanMonth), SpanHour), Limit: p.limit(), Name: p.text("name"),
			After: p.number("after"), ID: p.text("id")}
	}),
	"lines": get(Reporter.Lines, func(p *params) LinesQuery {
		return LinesQuery{ID: p.text("id"), Refused: p.flag("refused"), Text: p.flag("text"), Limit: p.limit()}
	}),
	"check": get(Reporter.Check, func(p *params) CheckQuery {
		return CheckQuery{UserAgent: p.text("ua"), URL: p.text("url"), Client: p.text("client")}
	}),
	"health": get(func(r Reporter, s Scope, _ any) (*Health, error) { return r.Health(s) }, func(*params) any { return nil }),
	"refresh": post(Reporter.Refresh, func(p *params) RefreshQuery {
		return RefreshQuery{ID: p.text("id"), GraceOff: p.choice("grace", "off") != "", Accept: p.choice("accept", "on") != ""}
	}),
	"budgets/reset": post(Reporter.ResetBudgets, func(p *params) ResetQuery {
		return ResetQuery{Crawler: p.text("crawler"), ID: p.text("id")}
	}),
	"mode": post(Reporter.SetMode, func(p *params) ModeQuery {
		return ModeQuery{Mode: p.choice("mode", Enforce, Monitor, Configured), Crawler: p.text("crawler")}
	}),
	"NAME": post(Reporter.Switch, func(p *params) SwitchQuery {
		return SwitchQuery{Step: p.route, Set: p.choice("set", Off, Configured)}
	}),
}

// route answers requests with data of a Reporter.
type route struct {
	method  string // GET, which includes HEAD, or POST
	name    string // in the path
	anyHost bool   // the Reporter checks the parameter site
	answer  func(*http.Request, Reporter, Scope, *params) (any, error)
}

// Get returns a route that answers a GET request with what ask returns for the query
// that the function query makes of the parameters.
func get[Q, A any](ask func(Reporter, Scope, Q) (A, error), query func(*params) Q) route {
	return newRoute(http.MethodGet, func(reporter Reporter, _ context.Context, scope Scope, q Q) (A, error) {
		return ask(reporter, scope, q)
	}, query)
}

// post is get for a POST request, which changes something.
func post[Q, A any](ask func(Reporter, context.Context, Scope, Q) (A, error), query func(*params) Q) route {
	return newRoute(http.MethodPost, ask, query)
}

func newRoute[Q, A any](method string, ask func(Reporter, context.Context, Scope, Q) (A, error), query func(*params) Q) route {
	return route{method: method, answer: func(r *http.Request, reporter Reporter, scope Scope, p *params) (any, error) {
		q := query(p)
		if p.err != nil {
			return nil, p.err
		}
		return ask(reporter, r.Context(), scope, q)
	}}
}

// serve answers a request. The parameter `site`, which may be repeated, restricts
// the scope. A GET or HEAD request is answered with 304 if its If-None-Match has the
// entity tag of the data.
//
// If the request is wrong, serve writes no answer and returns an *Error. The
// caller must check that the client may see the scope and, for POST, change it.
func (route route) serve(w http.ResponseWriter, r *http.Request, reporter Reporter, scope Scope) error {
	if r.Method != route.method && (r.Method != http.MethodHead || route.method != http.MethodGet) {
		w.Header().Set("Allow", route.method)
		return Errorf(http.StatusMethodNotAllowed, "the method %.20s is not allowed for the route %.100q: use %s", r.Method, r.URL.Path,
			route.method)
	}
	p := &params{values: r.URL.Query(), route: route.name}
	names := p.values["site"]
	if err := checkSites(reporter, scope, names); err != nil && !route.anyHost {
		return err
	}
	scope = scope.Only(names...)
	value, err := route.answer(r, reporter, scope, p)
	if err != nil {
		return err
	}
	return write(w, r, value)
}

// write answers a request with a value as JSON. The answer has an entity tag, unless
// the method is POST. It is 304 if the request's If-None-Match has the same tag.
func write(w http.ResponseWriter, r *http.Request, value any) error {
	var body bytes.Buffer
	if err := json.NewEncoder(&body).Encode(value); err != nil {
		return err
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	if r.Method == http.MethodPost {
		_, _ = body.WriteTo(w) // the client may be gone
		return nil
	}
	etag := strconv.Quote(strconv.FormatUint(xxhash.Sum64(body.Bytes()), 36))
	if header.Get("Vary") != "" { // the answer may be compressed
		etag = "W/" + etag
	}
	header.Set("Etag", etag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body.Bytes()))
	return nil
}

// params reads the parameters of a request.
type params struct {
	values url.Values
	route  string // its name in the path
	err    error  // the first error
}

// fail keeps an error, unless there is one already.
func (p *params) fail(format string, args ...any) {
	if p.err == nil {
		p.err = Errorf(http.StatusBadRequest, format, args...)
	}
}

// text returns a parameter, "" if it is absent.
func (p *params) text(name string) string { return p.values.Get(name) }

// number returns a parameter that is a whole number, 0 if it is absent.
func (p *params) number(name string) uint64 {
	text := p.text(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		p.fail("%s=%.100q: want a whole number that is not negative", name, text)
	}
	return n
}

// limit returns the parameter limit, or DefaultLimit if it is absent.
func (p *params) limit() int { return int(min(cmp.Or(p.number("limit"), DefaultLimit), MaxLimit)) }

// flag returns a parameter that is 1 or 0, false if it is absent.
func (p *params) flag(name string) bool {
	text := p.choice(name, "1", "0", "true", "false")
	return text == "1" || text == "true"
}

// choice returns a parameter that is one of the allowed values, "" if it is absent.
func (p *params) choice(name string, allowed ...string) string {
	text := p.text(name)
	if text != "" && !slices.Contains(allowed, text) {
		p.fail("%s=%.100q: want %s", name, text, strings.Join(allowed, " or "))
	}
	return text
}
