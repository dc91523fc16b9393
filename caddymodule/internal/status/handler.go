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

// ServeHTTP answers a request with data of a Reporter. route is the part of the path
// after /robots/, such as "crawlers", or "" for the summary. The parameter `site`,
// which may be repeated, restricts the scope. A GET or HEAD request is answered with
// 304 if its If-None-Match has the entity tag of the data.
//
// If the request is wrong, ServeHTTP writes no answer and returns an *Error. The
// caller must check that the client may see the scope and, for POST, change it.
func ServeHTTP(w http.ResponseWriter, r *http.Request, route string, reporter Reporter, scope Scope) error {
	q := params{values: r.URL.Query()}
	answer, ok := answers[strings.TrimSuffix(route, "/")]
	if !ok {
		return &Error{http.StatusNotFound, fmt.Sprintf("there is no route %.100q: want policies, crawlers, rules, recent, suspects, budgets, check, health, refresh, budgets/reset or mode", route)}
	}
	if post := r.Method == http.MethodPost; post != answer.post || !post && r.Method != http.MethodGet && r.Method != http.MethodHead {
		want := "GET"
		if answer.post {
			want = "POST"
		}
		w.Header().Set("Allow", want)
		return &Error{http.StatusMethodNotAllowed, fmt.Sprintf("the method %.20s is not allowed for the route %q: use %s", r.Method, route, want)}
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

// Write answers a request with a value as JSON. The answer has an entity tag, unless
// the method is POST. It is 304 if the request's If-None-Match has the same tag.
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

// matches reports whether an If-None-Match field matches an entity tag (RFC 9110,
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

// answers has the functions that make the answer of each route.
var answers = map[string]struct {
	post bool
	make func(q *params, r *http.Request, reporter Reporter, scope Scope) (any, error)
}{
	"": {make: func(q *params, _ *http.Request, reporter Reporter, scope Scope) (any, error) {
		query := SummaryQuery{Span: q.span(SpanHour)}
		return q.call(func() (any, error) { return reporter.Summary(scope, query) })
	}},
	"policies": {make: func(q *params, _ *http.Request, reporter Reporter, scope Scope) (any, error) {
		query := OriginsQuery{Pages: q.pages(), ID: q.text("id"), Text: q.flag("text"), Broken: q.flag("broken"), Grace: q.flag("grace")}
		return q.call(func() (any, error) { return reporter.Origins(scope, query) })
	}},
	"crawlers": {make: func(q *params, _ *http.Request, reporter Reporter, scope Scope) (any, error) {
		query := CrawlersQuery{Pages: q.pages(), Span: q.span(SpanDay), Sort: q.text("sort"), Name: q.text("name")}
		return q.call(func() (any, error) { return reporter.Crawlers(scope, query) })
	}},
	"rules": {make: func(q *params, _ *http.Request, reporter Reporter, scope Scope) (any, error) {
		query := LinesQuery{Pages: q.pages(), OriginID: q.text("policy"), Refused: q.flag("refused")}
		return q.call(func() (any, error) { return reporter.Lines(scope, query) })
	}},
	"recent": {make: func(q *params, _ *http.Request, reporter Reporter, scope Scope) (any, error) {
		query := RecentQuery{After: q.number("after"), Limit: int(q.number("limit"))}
		return q.call(func() (any, error) { return reporter.Recent(scope, query) })
	}},
	"suspects": {make: func(q *params, _ *http.Request, reporter Reporter, scope Scope) (any, error) {
		pages := q.pages()
		return q.call(func() (any, error) { return reporter.Suspects(scope, pages) })
	}},
	"budgets": {make: func(q *params, _ *http.Request, reporter Reporter, scope Scope) (any, error) {
		query := BudgetsQuery{Pages: q.pages(), Crawler: q.text("crawler")}
		return q.call(func() (any, error) { return reporter.Budgets(scope, query) })
	}},
	"check": {make: func(q *params, _ *http.Request, reporter Reporter, scope Scope) (any, error) {
		query := CheckQuery{UserAgent: q.text("ua"), URL: q.text("url"), Client: q.text("client")}
		return q.call(func() (any, error) { return reporter.Check(scope, query) })
	}},
	"health": {make: func(q *params, _ *http.Request, reporter Reporter, scope Scope) (any, error) {
		return q.call(func() (any, error) { return reporter.Health(scope) })
	}},
	"refresh": {post: true, make: func(q *params, r *http.Request, reporter Reporter, scope Scope) (any, error) {
		query := RefreshQuery{OriginID: q.text("policy"), GraceOff: q.choice("grace", "off") != ""}
		return q.call(func() (any, error) { return reporter.Refresh(r.Context(), scope, query) })
	}},
	"budgets/reset": {post: true, make: func(q *params, r *http.Request, reporter Reporter, scope Scope) (any, error) {
		query := ResetQuery{Crawler: q.text("crawler"), OriginID: q.text("policy")}
		return q.call(func() (any, error) { return reporter.ResetBudgets(r.Context(), scope, query) })
	}},
	"mode": {post: true, make: func(q *params, _ *http.Request, reporter Reporter, scope Scope) (any, error) {
		query := ModeQuery{Mode: q.choice("mode", Enforce, Monitor, Configured)}
		return q.call(func() (any, error) { return reporter.SetMode(scope, query) })
	}},
}

// params reads the parameters of a request.
type params struct {
	values url.Values
	err    error // the first error
}

// call calls f, unless a parameter is wrong.
func (q *params) call(f func() (any, error)) (any, error) {
	if q.err != nil {
		return nil, q.err
	}
	return f()
}

// fail keeps an error, unless there is one already.
func (q *params) fail(format string, args ...any) {
	if q.err == nil {
		q.err = &Error{http.StatusBadRequest, fmt.Sprintf(format, args...)}
	}
}

func (q *params) text(name string) string { return q.values.Get(name) }

// number returns a parameter that is a whole number, 0 if it is absent.
func (q *params) number(name string) uint64 {
	text := q.text(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		q.fail("%s=%.100q: want a whole number that is not negative", name, text)
	}
	return n
}

func (q *params) pages() Pages {
	const most = 1 << 31
	return Pages{Offset: int(min(q.number("offset"), most)), Limit: int(min(q.number("limit"), most))}
}

// flag returns a parameter that is 1 or 0, false if it is absent.
func (q *params) flag(name string) bool {
	switch text := q.text(name); text {
	case "", "0", "false":
	case "1", "true":
		return true
	default:
		q.fail("%s=%.100q: want 1 or 0", name, text)
	}
	return false
}

// span returns the parameter span, or the default if it is absent.
func (q *params) span(byDefault string) string {
	if q.text("span") == "" {
		return byDefault
	}
	return q.choice("span", SpanHour, SpanDay, SpanMonth)
}

// choice returns a parameter that is one of the allowed values, "" if it is absent.
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
	q.fail("%s=%.100q: want %s", name, text, strings.Join(allowed, " or "))
	return ""
}
