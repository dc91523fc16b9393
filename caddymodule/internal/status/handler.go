package status

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// ServeHTTP answers a request for one of the values: route is what the path has
// behind /robots/, such as "" for the summary or "crawlers". GET and HEAD
// answer 304 where the value is the one that If-None-Match has. It returns an
// *Error, and writes nothing, where the request can't be answered.
//
// Whether a client may ask, and POST, is the caller's to check. Each parameter
// `site` of a request narrows the scope.
func ServeHTTP(w http.ResponseWriter, r *http.Request, route string, reporter Reporter, scope Scope) error {
	q := params{values: r.URL.Query()}
	answer, ok := answers[strings.TrimSuffix(route, "/")]
	if !ok {
		return &Error{http.StatusNotFound, fmt.Sprintf("there is no %q: want policies, crawlers, rules, recent, suspects, budgets, check, health, refresh, budgets/reset or mode", route)}
	}
	if post := r.Method == http.MethodPost; post != answer.post || !post && r.Method != http.MethodGet && r.Method != http.MethodHead {
		want := "GET"
		if answer.post {
			want = "POST"
		}
		w.Header().Set("Allow", want)
		return &Error{http.StatusMethodNotAllowed, fmt.Sprintf("%s does not go with %q: use %s", r.Method, route, want)}
	}
	scope, err := Narrow(reporter, scope, q.values["site"])
	if err != nil {
		return err
	}
	value, err := answer.make(&q, r, reporter, scope)
	if q.err != nil {
		return q.err
	}
	if err != nil {
		return err
	}
	return Write(w, r, value)
}

// Write sends a value as JSON with an entity tag, or 304 where the client has it.
func Write(w http.ResponseWriter, r *http.Request, value any) error {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	if err := enc.Encode(value); err != nil {
		return err
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodPost {
		etag := strconv.Quote(strconv.FormatUint(xxhash.Sum64(body.Bytes()), 36))
		header.Set("Etag", etag)
		if matches(r.Header.Get("If-None-Match"), etag) {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	header.Set("Content-Length", strconv.Itoa(body.Len()))
	if r.Method != http.MethodHead {
		_, _ = w.Write(body.Bytes())
	}
	return nil
}

// matches reports whether an If-None-Match field has an entity tag (RFC 9110,
// section 13.1.2).
func matches(field, etag string) bool {
	for one := range strings.SplitSeq(field, ",") {
		one = strings.TrimSpace(one)
		if one == "*" || strings.TrimPrefix(one, "W/") == etag {
			return true
		}
	}
	return false
}

// answers has what each route is answered with.
var answers = map[string]struct {
	post bool
	make func(q *params, r *http.Request, reporter Reporter, scope Scope) (any, error)
}{
	"": {make: func(q *params, _ *http.Request, reporter Reporter, scope Scope) (any, error) {
		query := SummaryQuery{Span: q.span(SpanHour)}
		return q.ask(func() (any, error) { return reporter.Summary(scope, query) })
	}},
	"policies": {make: func(q *params, _ *http.Request, reporter Reporter, scope Scope) (any, error) {
		query := PoliciesQuery{Pages: q.pages(), ID: q.text("id"), Text: q.flag("text"), Broken: q.flag("broken"), Grace: q.flag("grace")}
		return q.ask(func() (any, error) { return reporter.Policies(scope, query) })
	}},
	"crawlers": {make: func(q *params, _ *http.Request, reporter Reporter, scope Scope) (any, error) {
		query := CrawlersQuery{Pages: q.pages(), Span: q.span(SpanDay), Sort: q.text("sort"), Name: q.text("name")}
		return q.ask(func() (any, error) { return reporter.Crawlers(scope, query) })
	}},
	"rules": {make: func(q *params, _ *http.Request, reporter Reporter, scope Scope) (any, error) {
		query := RulesQuery{Pages: q.pages(), Policy: q.text("policy")}
		return q.ask(func() (any, error) { return reporter.Rules(scope, query) })
	}},
	"recent": {make: func(q *params, _ *http.Request, reporter Reporter, scope Scope) (any, error) {
		query := RecentQuery{After: q.number("after"), Limit: int(q.number("limit"))}
		return q.ask(func() (any, error) { return reporter.Recent(scope, query) })
	}},
	"suspects": {make: func(q *params, _ *http.Request, reporter Reporter, scope Scope) (any, error) {
		pages := q.pages()
		return q.ask(func() (any, error) { return reporter.Suspects(scope, pages) })
	}},
	"budgets": {make: func(q *params, _ *http.Request, reporter Reporter, scope Scope) (any, error) {
		query := BudgetsQuery{Pages: q.pages(), Crawler: q.text("crawler")}
		return q.ask(func() (any, error) { return reporter.Budgets(scope, query) })
	}},
	"check": {make: func(q *params, _ *http.Request, reporter Reporter, scope Scope) (any, error) {
		query := CheckQuery{UserAgent: q.text("ua"), URL: q.text("url")}
		return q.ask(func() (any, error) { return reporter.Check(scope, query) })
	}},
	"health": {make: func(q *params, _ *http.Request, reporter Reporter, scope Scope) (any, error) {
		return q.ask(func() (any, error) { return reporter.Health(scope) })
	}},
	"refresh": {post: true, make: func(q *params, r *http.Request, reporter Reporter, scope Scope) (any, error) {
		query := RefreshQuery{Policy: q.text("policy"), GraceOff: q.choice("grace", "off") != ""}
		return q.ask(func() (any, error) { return reporter.Refresh(r.Context(), scope, query) })
	}},
	"budgets/reset": {post: true, make: func(q *params, r *http.Request, reporter Reporter, scope Scope) (any, error) {
		query := ResetQuery{Crawler: q.text("crawler"), Policy: q.text("policy")}
		return q.ask(func() (any, error) { return reporter.ResetBudgets(r.Context(), scope, query) })
	}},
	"mode": {post: true, make: func(q *params, _ *http.Request, reporter Reporter, scope Scope) (any, error) {
		query := ModeQuery{Mode: q.choice("mode", Enforce, Monitor, Configured)}
		return q.ask(func() (any, error) { return reporter.SetMode(scope, query) })
	}},
}

// params reads the parameters of a request. The first error counts.
type params struct {
	values url.Values
	err    error
}

// ask calls f unless a parameter is wrong.
func (q *params) ask(f func() (any, error)) (any, error) {
	if q.err != nil {
		return nil, q.err
	}
	return f()
}

func (q *params) fail(format string, args ...any) {
	if q.err == nil {
		q.err = &Error{http.StatusBadRequest, fmt.Sprintf(format, args...)}
	}
}

func (q *params) text(name string) string { return q.values.Get(name) }

func (q *params) number(name string) uint64 {
	text := q.text(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		q.fail("%s=%q is no whole number from 0", name, text)
	}
	return n
}

func (q *params) pages() Pages {
	const most = 1 << 31
	return Pages{Offset: int(min(q.number("offset"), most)), Limit: int(min(q.number("limit"), most))}
}

func (q *params) flag(name string) bool {
	switch text := q.text(name); text {
	case "", "0", "false":
	case "1", "true":
		return true
	default:
		q.fail("%s=%q: want 1 or 0", name, text)
	}
	return false
}

func (q *params) span(or string) string {
	if q.text("span") == "" {
		return or
	}
	return q.choice("span", SpanHour, SpanDay, SpanMonth)
}

// choice returns a parameter that is absent or one of the allowed values.
func (q *params) choice(name string, allowed ...string) string {
	text := q.text(name)
	if text == "" {
		return ""
	}
	for _, a := range allowed {
		if text == a {
			return text
		}
	}
	q.fail("%s=%q: want %s", name, text, strings.Join(allowed, " or "))
	return ""
}
