package config

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce"
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
	name     string
	reasons  []enforce.Reason
	status   func(int) bool
	allowed  string // the statuses, for error messages
	redirect bool
	abort    bool
}

// verdicts has, for each verdict, the statuses that do no harm: Google treats
// 429 and 5xx as signs of an overloaded host and crawls the whole host less. It
// drops a page that answers any other 4xx.
var verdicts = []verdict{
	{"disallowed", []enforce.Reason{enforce.Disallowed}, isRefusal, "4xx other than 429", true, true},
	{"impostor", []enforce.Reason{enforce.Impostor}, isRefusal, "4xx other than 429", true, true},
	{"throttled", []enforce.Reason{enforce.CrawlDelay, enforce.RequestRate, enforce.VisitTime}, isThrottling, "429 or 503", false, false},
	{"pending", []enforce.Reason{enforce.RulesPending}, isThrottling, "429 or 503", false, false},
	{"unavailable", []enforce.Reason{enforce.Unavailable}, func(s int) bool { return s == http.StatusServiceUnavailable }, "503", false, false},
	{"hidden", []enforce.Reason{enforce.Hidden}, func(s int) bool { return s == http.StatusNotFound || s == http.StatusGone }, "404 or 410", false, true},
}

// findVerdict returns the verdict with a name, nil if there is none.
func findVerdict(name string) *verdict {
	for i := range verdicts {
		if verdicts[i].name == name {
			return &verdicts[i]
		}
	}
	return nil
}

func verdictNames() string {
	var names []string
	for _, v := range verdicts {
		names = append(names, v.name)
	}
	return strings.Join(names, ", ")
}

// AppliesTo reports whether the answer is for requests that are refused for a
// reason.
func (a *Answer) AppliesTo(reason enforce.Reason) bool {
	v := findVerdict(a.Verdict)
	return v != nil && slices.Contains(v.reasons, reason)
}

func isRefusal(s int) bool { return s >= 400 && s < 500 && s != http.StatusTooManyRequests }

func isThrottling(s int) bool {
	return s == http.StatusTooManyRequests || s == http.StatusServiceUnavailable
}

// validate returns an error for answers that contradict themselves or would
// harm the site.
func (a *Answer) validate() error {
	v := findVerdict(a.Verdict)
	if v == nil {
		return fmt.Errorf("answer %q: want %s", a.Verdict, verdictNames())
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
	if hasPlaceholder(a.Redirect) {
		return nil
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

// answer parses
//
//	answer <verdict> <status> [<text>] | redir <url> | abort
func (p *parser) answer(_ string, values []string) error {
	if len(values) < 2 {
		return fmt.Errorf("answer: want a verdict (%s) and a status, redir URL or abort", verdictNames())
	}
	a := Answer{Verdict: values[0]}
	switch kind, rest := values[1], values[2:]; {
	case kind == "abort" && len(rest) == 0:
		a.Abort = true
	case kind == "redir" && len(rest) == 1:
		a.Redirect = rest[0]
	case kind == "abort" || kind == "redir":
		return fmt.Errorf("answer %s %s: unexpected %q", a.Verdict, kind, strings.Join(rest, " "))
	case len(rest) > 1:
		return fmt.Errorf("answer %s %s: the text has %d words without quotes: write it as one value, %q", a.Verdict, kind, len(rest), strings.Join(rest, " "))
	default:
		status, err := strconv.Atoi(kind)
		if err != nil || status == 0 {
			return fmt.Errorf("answer %s: unknown value %q: want a status, redir or abort", a.Verdict, kind)
		}
		a.Status, a.Text = status, strings.Join(rest, "")
	}
	p.settings.Answers = append(p.settings.Answers, a)
	return checkAnswers(p.settings.Answers)
}
