package config

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// Answer replaces the default answer to requests with one verdict.
//
// It needs exactly one of `status`, `redirect` and `abort`.
type Answer struct {
	// `disallowed`, `impostor`, `throttled`, `pending`, `unavailable`, `hidden`, `shed` or
	// `challenge`.
	Verdict string `json:"verdict"`

	// For `disallowed` and `impostor`, any 4xx except 429 (default 403); for `throttled` and
	// `pending`, 429 (default) or 503; for `unavailable` and `shed`, 503; for `hidden`, 404
	// (default) or 410.
	Status int `json:"status,omitempty"`

	// The body as plain text. Placeholders are replaced.
	Text string `json:"text,omitempty"`

	// For `disallowed` and `impostor`, an http or https URL, or a path of the site, for status
	// 302; not for search engines, and not to where the crawler would be refused too.
	// Placeholders are replaced.
	Redirect string `json:"redirect,omitempty"`

	// For `disallowed`, `impostor` and `hidden`, whether the connection is closed without an
	// answer; not behind a trusted proxy.
	Abort bool `json:"abort,omitempty"`

	// For `challenge`, an HTML template with `{{.StyleSheet}}` in its head and `{{.Button}}`.
	// It also has `{{.Lang}}`, `{{.Dir}}`, `{{.Title}}`, `{{.Heading}}`, `{{.Text}}`,
	// `{{.ReferenceLabel}}` and `{{.Reference}}`, and `{{.Nonce}}` for `<style nonce="…">`.
	// Default: a page in the visitor's language.
	File string `json:"file,omitempty"`

	// For `challenge`, whether clients get no page and go on, and the matcher `robots
	// stranger` is true for them. Default: false.
	Mark bool `json:"mark,omitempty"`
}

// verdictNames returns the verdicts that an Answer can be for.
func verdictNames() string {
	var names []string
	for _, info := range judge.Reasons() {
		if info.Answer != nil && !slices.Contains(names, info.Answer.Verdict) {
			names = append(names, info.Answer.Verdict)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// info says what the answer may be. It returns nil if no reason has its verdict.
func (a *Answer) info() *judge.AnswerInfo {
	for _, info := range judge.Reasons() {
		if info.Answer != nil && info.Answer.Verdict == a.Verdict {
			return info.Answer
		}
	}
	return nil
}

// check returns an error for answers that contradict themselves or would
// harm the site.
func (a *Answer) check() error {
	v := a.info()
	if v == nil {
		return fmt.Errorf("answer %q: want %s", a.Verdict, verdictNames())
	}
	if v.Page {
		if (a.File != "") == a.Mark || a.Status != 0 || a.Redirect != "" || a.Abort || a.Text != "" {
			return fmt.Errorf("answer %s: want the file of the page, or mark", a.Verdict)
		}
		return nil
	}
	if a.File != "" || a.Mark {
		return fmt.Errorf("answer %s: file and mark are for a verdict with a page", a.Verdict)
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
	case a.Redirect != "" && !v.Redirect:
		return fmt.Errorf("answer %s redir: want the status %s", a.Verdict, v.Wanted())
	case a.Abort && !v.Abort:
		return fmt.Errorf("answer %s abort: want the status %s", a.Verdict, v.Wanted())
	case a.Status != 0 && !v.Allows(a.Status):
		return fmt.Errorf("answer %s %d: want the status %s", a.Verdict, a.Status, v.Wanted())
	case a.Redirect != "":
		return a.checkURL()
	}
	return nil
}

// checkURL returns an error if the target of the redirect is not a URL.
func (a *Answer) checkURL() error {
	u, err := url.Parse(a.Redirect)
	switch {
	case hasPlaceholder(a.Redirect):
	case err != nil, u.Host == "" && !strings.HasPrefix(u.Path, "/"),
		u.Host != "" && !slices.Contains([]string{"", "http", "https"}, u.Scheme):
		return fmt.Errorf("answer %s redir %q: want an http or https URL, or a path that begins with a slash", a.Verdict, a.Redirect)
	}
	return nil
}

func checkAnswers(answers []Answer) error {
	for i, a := range answers {
		if err := a.check(); err != nil {
			return err
		}
		if slices.ContainsFunc(answers[:i], func(other Answer) bool { return other.Verdict == a.Verdict }) {
			return fmt.Errorf("answer %s is given twice", a.Verdict)
		}
	}
	return nil
}

// checkNeeded returns an error for answers to what the settings don't have.
func (s *Settings) checkNeeded(answers []Answer) error {
	for i := range answers {
		info := answers[i].info()
		if info == nil || info.Line == "" {
			continue
		}
		if !s.has(info.Line) {
			return inOption("answer "+answers[i].Verdict, fmt.Errorf("answer %s: without the line %s, nothing is answered so: "+
				"add that line, or remove this one", answers[i].Verdict, info.Line))
		}
	}
	return nil
}

// answer parses the line answer.
func (p *parser) answer(_ string, values []string) error {
	if len(values) < 2 || len(values) > 3 {
		return fmt.Errorf("answer: want a verdict (%s) and a status, redir URL or abort; a text is one value, in quotes", verdictNames())
	}
	a, kind, rest := Answer{Verdict: values[0]}, values[1], strings.Join(values[2:], "")
	info := a.info()
	switch isPage := info != nil && info.Page; {
	case isPage && kind == "mark":
		a.Mark, a.Text = true, rest
	case isPage:
		a.File, a.Text = kind, rest
		p.note("answer " + a.Verdict)
	case kind == "abort":
		a.Abort, a.Text = true, rest
	case kind == "redir":
		a.Redirect = rest
	default:
		a.Status, _ = strconv.Atoi(kind) // 0 is none
		a.Text = rest
	}
	p.head("answer " + a.Verdict)
	p.settings.Answers = append(p.settings.Answers, a)
	return nil
}
