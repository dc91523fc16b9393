package mistakes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/words"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// warnings are the checks whose findings cost a rule, or change a verdict, though they
// are no errors of the linter.
var warnings = []string{
	"contradiction", "dollar-within", "invisible-character", "malformed-crawl-delay", "malformed-request-rate", "malformed-visit-time",
	"misspelt-token", "regular-expression", "trailing-separator",
}

// Review is what a robots.txt says that is most likely not meant. The zero Review is
// that of a file without mistakes.
type Review struct {
	count  int          // findings that cost a rule or change a verdict
	first  lint.Finding // of them
	text   string       // of its line
	silent bool         // no line of the file is a rule
	unsent []string     // the names of all groups, if no crawler sends any of them
}

// Find reviews the file in force, of which the linter has found all.
func Find(rules *judge.Rules, all []lint.Finding) *Review {
	r, f := &Review{silent: true}, rules.File()
	for i := range all {
		if !Costs(rules, &all[i]) {
			continue
		}
		if r.count++; r.count == 1 {
			line, _ := f.Line(all[i].Line)
			r.first, r.text = all[i], strings.Trim(line.Raw, " \t")
		}
	}
	for line := range f.Lines() {
		r.silent = r.silent && !isRule(line.Directive)
	}
	nobody := slices.Concat(rules.Unenforceable(), rules.Ignored())
	isSent := func(token string) bool { return !words.ContainsFold(nobody, token) }
	if f.Star() == nil && !slices.ContainsFunc(f.Tokens(), isSent) {
		r.unsent = f.Tokens()
	}
	return r
}

// isRule reports whether a line is one that crawlers obey, or says that there is
// nothing to obey.
func isRule(d robots.Directive) bool {
	switch d {
	case robots.DirectiveAllow, robots.DirectiveDisallow, robots.DirectiveCrawlDelay, robots.DirectiveRequestRate, robots.DirectiveVisitTime,
		robots.DirectiveContentSignal, robots.DirectiveContentUsage, robots.DirectiveNoindex:
		return true
	}
	return false
}

// Costs reports whether a finding costs a rule of the site's file, or changes a verdict,
// for this module. What only Google reads otherwise does not.
func Costs(rules *judge.Rules, finding *lint.Finding) bool {
	if layer, _ := rules.Origin(finding.Line); layer != judge.FileLayer {
		return false
	}
	f := rules.File()
	line, _ := f.Line(finding.Line)
	switch code := finding.Code; {
	case slices.Contains(warnings, code):
		return true
	case code == "prose":
		return isMergeMark(line.Raw)
	case code == "never-decides":
		related, _ := f.Line(finding.Related)
		return related.Directive != line.Directive
	case code == "unknown-key" || code == "missing-colon":
		if line.Directive != robots.DirectiveUnknown || finding.Replacement == nil {
			return false
		}
		meant, _ := robots.Parse([]byte(*finding.Replacement + ": x")).Line(1)
		return isRule(meant.Directive) || meant.Directive == robots.DirectiveUserAgent
	default:
		return finding.Severity == lint.Error && !strings.HasPrefix(code, "google-")
	}
}

// isMergeMark reports whether version control wrote a line, where two versions of a
// file could not be merged.
func isMergeMark(line string) bool {
	return slices.ContainsFunc([]string{"<<<<<<<", "|||||||", "=======", ">>>>>>>"}, func(mark string) bool {
		rest, ok := strings.CutPrefix(line, mark)
		return ok && (rest == "" || rest[0] == ' ')
	})
}

// File has the facts about the robots.txt of a host.
type File struct {
	Subject  string                                 // its host, site or location
	State    func() string                          // what is in force, in words
	Needed   bool                                   // see config.Settings.NeedsFile
	Unneeded bool                                   // the block is about headers: see config.Settings.IsAboutHeaders
	Steps    func(*judge.Rules) []statusapi.Problem // what is wrong with the settings of steps; nil without
	Last     judge.Outcome                          // of the last fetch
	HasCopy  bool                                   // an earlier copy with rules is in force
	Rules    *judge.Rules                           // in force
	Review   *Review                                // of Rules; nil if there is none yet
}

const (
	forbiddenAdvice = "Let everybody fetch /robots.txt: except it from authentication, firewalls and matchers. " +
		"If the site has none, answer 404."
	redirectAdvice = "Serve the file at this host, without a redirect. If the host only redirects, take `robots` out of its block."
	unsentAdvice   = "Nobody can refuse by a name that no request has. Write groups for names that crawlers send, such as GPTBot, or for `*`."
)

// SilentAdvice says what to do where nothing is refused, because there are no rules.
var SilentAdvice = sync.OnceValue(func() string {
	line := ""
	for _, name := range step.Names(false) {
		if words := step.New(name).Info().Words; len(words) > 0 {
			line = ", or `robots " + words[0] + "` in place of `robots`"
		}
	}
	return "Write a robots.txt" + line + ". If crawlers may fetch everything, say so in a file: `User-agent: *` and, in the next line, `Disallow:`."
})

// Problem returns the problem that the file in force, or none, is most likely not what
// is meant; the zero Problem if nothing says so.
func (f *File) Problem() statusapi.Problem {
	switch {
	case f.HasCopy: // what the site answers now is an accident
	case f.Unneeded && f.Rules.Outcome() != judge.Loaded:
	case f.Last == judge.Forbidden:
		return f.problem(statusapi.NoRules, f.State(), forbiddenAdvice)
	case f.Last == judge.Redirected:
		return f.problem(statusapi.NoRules, f.State(), redirectAdvice)
	case f.Rules.Outcome() == judge.Missing && f.Needed:
		return f.problem(statusapi.NoRules, f.State()+", and nothing is refused", SilentAdvice())
	}
	switch r := f.Review; {
	case r == nil || f.Rules.Outcome() != judge.Loaded:
	case r.count > 0:
		return f.mistake(r)
	case r.silent && f.Needed && f.Rules.Content().Empty():
		return f.problem(statusapi.NoRules, f.State(), SilentAdvice())
	case r.silent && f.Needed:
		return f.problem(statusapi.NoRules, "robots.txt of "+f.Subject+" has no rules: crawlers may fetch everything", SilentAdvice())
	case r.unsent != nil && f.Needed:
		return f.problem(statusapi.NoRules, fmt.Sprintf("robots.txt of %s has groups for nobody else than %s, whose names no crawler sends: "+
			"nothing is refused", f.Subject, words.List(r.unsent, 3)), unsentAdvice)
	case f.Steps != nil && f.Last == judge.Loaded:
		for _, p := range f.Steps(f.Rules) {
			p.Subject, p.Message = f.Subject, f.Subject+": "+p.Message
			return p
		}
	}
	return statusapi.Problem{}
}

func (f *File) problem(kind, message, advice string) statusapi.Problem {
	return statusapi.Problem{Severity: statusapi.Warning, Kind: kind, Subject: f.Subject, Message: message, Advice: advice}
}

// maxText bounds the text of a line in a message, in octets.
const maxText = 80

// mistake returns the problem of the first finding.
func (f *File) mistake(r *Review) statusapi.Problem {
	first := &r.first
	_, line := f.Rules.Origin(first.Line)
	text := r.text
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	why := first.Message
	if first.Code == "prose" {
		why = "a merge was not finished"
	}
	message := fmt.Sprintf("line %d of %s of %s, `%s`, does not do what it says: %s", line, f.Rules.FileOf(judge.FileLayer),
		f.Subject, text, why)
	if n := r.count - 1; n > 0 {
		message += fmt.Sprintf(" (and %s like it)", words.Plural(n, "more finding", "more findings"))
	}
	text, todo := mend(first, r.text)
	more := fmt.Sprintf("If it is on purpose, write `# %s ignore %s` above the line. `caddy robots explain %s` says more.", lint.Suppression,
		first.Code, first.Code)
	p := f.problem(statusapi.Mistake, message, todo+" "+more)
	p.Line = line
	if text != "" {
		p.Actions = []statusapi.Action{{What: fmt.Sprintf("Write this in place of line %d", line), Text: text, Where: statusapi.RobotsTxt}, {What: more}}
	}
	return p
}

// mend says how to correct a finding, with the text of the line as it should be, if that is known.
func mend(finding *lint.Finding, line string) (text, todo string) {
	switch {
	case finding.Code == "prose":
		return "", "Keep one of the two versions, and remove the marks."
	case finding.Code == "rule-outside-group":
		return "", "Write `User-agent: *` above it, or the name of the crawler that it is for."
	case finding.Replacement == nil || *finding.Replacement == "" || !strings.Contains(line, finding.Text):
		return "", strings.ToUpper(finding.Why[:1]) + finding.Why[1:] + "."
	}
	line = cmp.Or(strings.Replace(line, finding.Text, *finding.Replacement, 1), *finding.Replacement)
	if l, _ := robots.Parse([]byte(line)).Line(1); isRule(l.Directive) && !strings.HasPrefix(line, l.Directive.String()) { // a misspelt key
		line = l.Directive.String() + ": " + l.Value
	}
	return line, fmt.Sprintf("Write `%s`.", line)
}
