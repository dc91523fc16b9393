package caddymodule

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// customAnswers has the operator's answer for each reason, nil for none.
type customAnswers [enforce.Reasons]*customAnswer

// customAnswer is a compiled Answer.
type customAnswer struct {
	config.Answer
	fixed    *answer // for a status and a text without placeholders
	fallback *answer // the default answer, if the operator's would do harm
	replace  bool    // there are placeholders to replace
}

func newCustomAnswers(answers []config.Answer) (c customAnswers) {
	for _, a := range answers {
		for _, reason := range a.Reasons() {
			c[reason] = newCustomAnswer(a, reason)
		}
	}
	return c
}

func newCustomAnswer(a config.Answer, reason enforce.Reason) *customAnswer {
	c := &customAnswer{Answer: a, fallback: &answers[reason], replace: strings.Contains(a.Text+a.Redirect, "{")}
	text := a.Text
	if text == "" {
		text = strings.TrimSuffix(c.fallback.body, "\n")
	}
	fixed := newAnswer(a.Status, text)
	c.fixed = &fixed
	return c
}

// send answers a request.
func (c *customAnswer) send(w http.ResponseWriter, r *http.Request, d *enforce.Decision) error {
	switch {
	case c.Abort:
		if trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool); trusted {
			return c.fallback.send(w, r) // the connection is the proxy's
		}
		panic(http.ErrAbortHandler)
	case c.Redirect != "":
		to := c.replaced(r, c.Redirect)
		if d.Agent.Crawler != nil && d.Agent.Crawler.Purpose == crawler.Search || leadsToRefusal(to, r, d) {
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
func leadsToRefusal(to string, r *http.Request, d *enforce.Decision) bool {
	u, err := url.Parse(to)
	if err != nil {
		return true
	}
	if u.Host != "" && !strings.EqualFold(u.Hostname(), (&url.URL{Host: r.Host}).Hostname()) {
		return false
	}
	var there enforce.Decision
	d.Rules.Check(&enforce.Request{Method: http.MethodGet, Target: u.RequestURI(), UserAgents: r.Header["User-Agent"]}, &there)
	return there.Action != enforce.Pass
}

// checkRedirects returns an error for a redirect to a path that robots.txt
// disallows. For sources that are not local, leadsToRefusal checks this at each
// request.
func (h *Handler) checkRedirects() error {
	if !h.IsLocal() {
		return nil
	}
	var err error
	for _, a := range h.Answers {
		u, parseErr := url.Parse(a.Redirect)
		if a.Redirect == "" || parseErr != nil || u.Host != "" || strings.Contains(a.Redirect, "{") {
			continue
		}
		h.running.Load().Origins().All(func(_ enforce.Origin, p *enforce.Rules) {
			if p.DisallowsStar(u.RequestURI()) {
				err = fmt.Errorf("answer %s redir %s: robots.txt disallows this path itself", a.Verdict, a.Redirect)
			}
		})
	}
	return err
}
