package caddymodule

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/headers"
)

// customAnswers has the operator's answer for each reason, nil for none.
type customAnswers []*customAnswer

// customAnswer is a compiled Answer.
type customAnswer struct {
	config.Answer
	fixed    answer  // for a status and a text without placeholders
	fallback *answer // the default answer, if the operator's would do harm
	replace  bool    // there are placeholders to replace
}

func newCustomAnswers(list []config.Answer) customAnswers {
	defaults := defaultAnswers()
	answers := make(customAnswers, len(defaults))
	for reason, info := range judge.Reasons() {
		for _, a := range list {
			if info.Answer != nil && !info.Answer.Page && info.Answer.Verdict == a.Verdict {
				answers[reason] = newCustomAnswer(a, &defaults[reason])
			}
		}
	}
	return answers
}

func newCustomAnswer(a config.Answer, fallback *answer) *customAnswer {
	c := &customAnswer{Answer: a, fallback: fallback, replace: strings.Contains(a.Text+a.Redirect, "{")}
	text := a.Text
	if text == "" {
		text = strings.TrimSuffix(c.fallback.body, "\n")
	}
	c.fixed = newAnswer(a.Status, text)
	return c
}

// send answers a request.
func (c *customAnswer) send(w http.ResponseWriter, r *http.Request, d *judge.Decision) error {
	switch {
	case c.Abort:
		if trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool); trusted {
			return c.fallback.send(w, r) // the connection is the proxy's
		}
		panic(http.ErrAbortHandler)
	case c.Redirect != "":
		to := c.replaced(r, c.Redirect)
		if d.Agent.Crawler != nil && d.Agent.Crawler.CountsAs(crawler.Search) || leadsToRefusal(to, r, d) {
			return c.fallback.send(w, r)
		}
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
		return nil
	case c.replace:
		a := newAnswer(c.Status, c.replaced(r, c.Text))
		return a.send(w, r)
	}
	return c.fixed.send(w, r)
}

// replaced returns text with its placeholders replaced.
func (c *customAnswer) replaced(r *http.Request, text string) string {
	if !c.replace {
		return text
	}
	repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if !ok {
		return text
	}
	return repl.ReplaceAll(text, "")
}

// leadsToRefusal reports whether a redirect leads to a URL of the same site that
// would be refused too.
func leadsToRefusal(to string, r *http.Request, d *judge.Decision) bool {
	u, err := url.Parse(to)
	if err != nil {
		return true
	}
	if u.Host != "" && !strings.EqualFold(u.Hostname(), (&url.URL{Host: r.Host}).Hostname()) {
		return false
	}
	var there judge.Decision
	d.Rules.Check(&judge.Request{Method: http.MethodGet, Target: u.RequestURI(), UserAgents: r.Header["User-Agent"], Brands: r.Header["Sec-Ch-Ua"]}, &there)
	return there.Action != judge.Pass
}

// checkRedirects returns an error for a redirect to a path that robots.txt
// disallows. For sources that are not local, leadsToRefusal checks this at each
// request.
func (h *Handler) checkRedirects(caddy.Context) error {
	if !h.IsLocal() {
		return nil
	}
	var err error
	for _, a := range h.Answers {
		u, parseErr := url.Parse(a.Redirect)
		if a.Redirect == "" || parseErr != nil || u.Host != "" || strings.Contains(a.Redirect, "{") {
			continue
		}
		h.running.Load().Origins().All(func(_ judge.Origin, p *judge.Rules) {
			if p.DisallowsStar(u.RequestURI()) {
				err = fmt.Errorf("answer %s redir %s: robots.txt disallows this path itself", a.Verdict, a.Redirect)
			}
		})
	}
	return err
}

// answer is the response to a refused request.
type answer struct {
	status int
	body   string
	length string
	err    error
}

func newAnswer(status int, body string) answer {
	return answer{status, body + "\n", strconv.Itoa(len(body) + 1), errors.New(body)}
}

// defaultAnswers returns the default answer for each reason.
var defaultAnswers = sync.OnceValue(func() (list []answer) {
	for _, info := range judge.Reasons() {
		list = append(list, newAnswer(info.Status, info.Text))
	}
	return list
})

const textPlain = "text/plain; charset=utf-8"

// refuse answers a refused request.
func (x *exchange) refuse(w http.ResponseWriter) error {
	h, r, d := x.handler, x.HTTP, &x.Decision
	a := &defaultAnswers()[d.Reason]
	if d.RetryAfter > 0 {
		w.Header().Set("Retry-After", headers.RetryAfter(d.RetryAfter))
	}
	if custom := h.answers[d.Reason]; custom != nil {
		return custom.send(w, r, d)
	}
	if x.asked {
		return a.send(w, r) // an error route would give a proxy another status
	}
	if err := errorFor(r, a); err != nil {
		return err
	}
	return a.send(w, r)
}

// send writes the answer.
func (a *answer) send(w http.ResponseWriter, r *http.Request) error {
	header := w.Header()
	values := [...]string{textPlain, "nosniff", a.length} // of this response alone: `header` changes values in place
	header["Content-Type"] = values[0:1:1]
	header["X-Content-Type-Options"] = values[1:2:2]
	header["Content-Length"] = values[2:3:3]
	w.WriteHeader(a.status)
	if r.Method != http.MethodHead {
		_, _ = io.WriteString(w, a.body) // an error means that the client is gone
	}
	return nil
}

// errorFor returns an error with the answer's status if the site has an error
// route (handle_errors) that would answer it, otherwise nil. Error routes of
// other sites on the server, and of other statuses, do not count.
func errorFor(r *http.Request, a *answer) error {
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok || server == nil || server.Errors == nil || len(server.Errors.Routes) == 0 {
		return nil
	}
	err := caddyhttp.Error(a.status, a.err)
	// Error routes get the error and the original request.
	probe := server.Errors.WithError(r, err)
	if original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok && original.URL != nil {
		url := *original.URL
		probe.URL, probe.RequestURI = &url, original.RequestURI
	}
	if routes.First(server.Errors.Routes, probe, anyHandler) == nil {
		return nil
	}
	return err
}

func anyHandler(caddyhttp.MiddlewareHandler) bool { return true }
