package caddymodule

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// Answer replaces the default answer to requests with one verdict. It needs
// exactly one of `status`, `redirect` and `abort`. It takes precedence over the
// site's error routes.
type Answer struct {
	// The verdict: `disallowed` (robots.txt or the policy disallows the URL),
	// `impostor` (the client is not the crawler that it claims to be),
	// `throttled` (the request breaks Crawl-delay, Request-rate or Visit-time),
	// `pending` (robots.txt was never read yet), `unavailable` (robots.txt can't
	// be read, with `on_error deny`) or `hidden` (the policy hides the path).
	Verdict string `json:"verdict"`

	// The status code. Without an Answer it is 403 for `disallowed` and
	// `impostor`, 429 for `throttled` and `pending`, 503 for `unavailable`, and
	// 404 for `hidden`. Allowed are: for `disallowed` and `impostor`, any 4xx
	// except 429; for `throttled` and `pending`, 429 and 503; for `unavailable`,
	// 503; for `hidden`, 404 and 410. A search engine removes a page that
	// answers 403, 404, 410 or 451 from its index, and crawls the whole host
	// less if it gets 429 or 503.
	Status int `json:"status,omitempty"`

	// The body as plain text, with a status. Placeholders are replaced. Default:
	// a sentence that gives the reason.
	Text string `json:"text,omitempty"`

	// An http or https URL, or a path of the site, to redirect to with status
	// 302. Only for `disallowed` and `impostor`. Placeholders are replaced.
	// Crawlers of search engines get the default answer instead, because search
	// engines punish sites that show them other pages than people (cloaking).
	// A crawler also gets the default answer if the redirect would lead to a URL
	// that is refused too.
	Redirect string `json:"redirect,omitempty"`

	// Close the connection without an answer. Only for `disallowed`, `impostor`
	// and `hidden`. Behind a trusted proxy the client gets the default answer,
	// because the connection is the proxy's.
	Abort bool `json:"abort,omitempty"`
}

// verdict is a kind of refusal that an Answer can be for.
type verdict struct {
	reasons  []string // of enforce.Reason
	status   func(int) bool
	allowed  string // the statuses, for error messages
	redirect bool
	abort    bool
}

// verdicts has, for each verdict, the statuses that do no harm: Google treats
// 429 and 5xx as signs of an overloaded host and crawls the whole host less. It
// drops a page that answers any other 4xx.
var verdicts = map[string]verdict{
	"disallowed":  {[]string{"disallowed"}, isRefusal, "4xx other than 429", true, true},
	"impostor":    {[]string{"impostor"}, isRefusal, "4xx other than 429", true, true},
	"throttled":   {[]string{"crawl_delay", "request_rate", "visit_time"}, isThrottling, "429 or 503", false, false},
	"pending":     {[]string{"pending"}, isThrottling, "429 or 503", false, false},
	"unavailable": {[]string{"unavailable"}, func(s int) bool { return s == http.StatusServiceUnavailable }, "503", false, false},
	"hidden":      {[]string{"hidden"}, func(s int) bool { return s == http.StatusNotFound || s == http.StatusGone }, "404 or 410", false, true},
}

var verdictNames = []string{"disallowed", "impostor", "throttled", "pending", "unavailable", "hidden"}

func isRefusal(s int) bool { return s >= 400 && s < 500 && s != http.StatusTooManyRequests }

func isThrottling(s int) bool {
	return s == http.StatusTooManyRequests || s == http.StatusServiceUnavailable
}

// validate returns an error for answers that contradict themselves or would
// harm the site.
func (a *Answer) validate() error {
	v, ok := verdicts[a.Verdict]
	if !ok {
		return fmt.Errorf("answer %q: want %s", a.Verdict, strings.Join(verdictNames, ", "))
	}
	kinds := 0
	for _, given := range []bool{a.Status != 0, a.Redirect != "", a.Abort} {
		if given {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return fmt.Errorf("answer %s: want one of a status, redir URL and abort", a.Verdict)
	case a.Text != "" && a.Status == 0:
		return fmt.Errorf("answer %s: a text needs a status", a.Verdict)
	case a.Redirect != "" && !v.redirect:
		return fmt.Errorf("answer %s redir: want the status %s", a.Verdict, v.allowed)
	case a.Abort && !v.abort:
		return fmt.Errorf("answer %s abort: want the status %s", a.Verdict, v.allowed)
	case a.Status != 0 && !v.status(a.Status):
		return fmt.Errorf("answer %s %d: want the status %s", a.Verdict, a.Status, v.allowed)
	case a.Redirect != "":
		return a.checkURL()
	}
	return nil
}

// checkURL returns an error if the target of the redirect is not a URL.
func (a *Answer) checkURL() error {
	if strings.Contains(a.Redirect, "{") {
		return nil // a placeholder
	}
	u, err := url.Parse(a.Redirect)
	if err != nil || u.Host == "" && !strings.HasPrefix(u.Path, "/") || u.Host != "" && u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "" {
		return fmt.Errorf("answer %s redir %q: want an http or https URL, or a path that begins with a slash", a.Verdict, a.Redirect)
	}
	return nil
}

// checkAnswers validates all answers.
func checkAnswers(answers []Answer) error {
	seen := map[string]bool{}
	for i := range answers {
		if err := answers[i].validate(); err != nil {
			return err
		}
		if seen[answers[i].Verdict] {
			return fmt.Errorf("answer %s is given twice", answers[i].Verdict)
		}
		seen[answers[i].Verdict] = true
	}
	return nil
}

// parseAnswer parses
//
//	answer <verdict> <status> [<text>] | redir <url> | abort
func parseAnswer(h *Handler, d *caddyfile.Dispenser) error {
	args := d.RemainingArgs()
	if len(args) < 2 {
		return d.Errf("answer: want a verdict (%s) and a status, redir URL or abort", strings.Join(verdictNames, ", "))
	}
	a := Answer{Verdict: args[0]}
	switch rest := args[2:]; {
	case args[1] == "abort" && len(rest) == 0:
		a.Abort = true
	case args[1] == "redir" && len(rest) == 1:
		a.Redirect = rest[0]
	case args[1] != "abort" && args[1] != "redir" && len(rest) <= 1:
		status, err := strconv.Atoi(args[1])
		if err != nil || status == 0 {
			return d.Errf("answer %s: unknown value %q: want a status, redir or abort", a.Verdict, args[1])
		}
		a.Status = status
		if len(rest) == 1 {
			a.Text = rest[0]
		}
	case args[1] != "abort" && args[1] != "redir":
		return d.Errf("answer %s %s: the text has %d words without quotes: write it as one value, %q", a.Verdict, args[1], len(rest), strings.Join(rest, " "))
	default:
		return d.Errf("answer %s %s: unexpected %q", a.Verdict, args[1], strings.Join(rest, " "))
	}
	h.Answers = append(h.Answers, a)
	if err := checkAnswers(h.Answers); err != nil {
		return d.WrapErr(err)
	}
	return nil
}

// customAnswers has the operator's answer for each reason.
type customAnswers [enforce.Reasons]*customAnswer

// customAnswer is a compiled Answer.
type customAnswer struct {
	Answer
	fixed    *answer // for a status and a text without placeholders
	fallback *answer // the default answer, if the operator's would do harm
	replace  bool    // there are placeholders to replace
}

func newCustomAnswers(answers []Answer) *customAnswers {
	if len(answers) == 0 {
		return nil
	}
	c := new(customAnswers)
	for reason := range enforce.Reason(enforce.Reasons) {
		for _, a := range answers {
			if containsFold(verdicts[a.Verdict].reasons, reason.String()) {
				c[reason] = newCustomAnswer(a, reason)
			}
		}
	}
	return c
}

func newCustomAnswer(a Answer, reason enforce.Reason) *customAnswer {
	c := &customAnswer{Answer: a, fallback: &answers[reason], replace: strings.Contains(a.Text+a.Redirect, "{")}
	text := a.Text
	if text == "" {
		text = strings.TrimSuffix(c.fallback.body, "\n")
	}
	fixed := newAnswer(a.Status, text)
	c.fixed = &fixed
	return c
}

// of returns the operator's answer for a reason, nil if there is none.
func (c *customAnswers) of(reason enforce.Reason) *customAnswer {
	if c == nil {
		return nil
	}
	return c[reason]
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
	if kind := h.kind(); kind != sourceFile && kind != sourceInline {
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
