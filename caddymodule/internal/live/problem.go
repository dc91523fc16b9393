package live

import (
	"fmt"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// warning returns a problem of the severity statusapi.Warning.
func warning(kind, subject, message, advice string) statusapi.Problem {
	return statusapi.Problem{Severity: statusapi.Warning, Kind: kind, Subject: subject, Message: message, Advice: advice}
}

// severe returns a problem of the severity statusapi.Severe.
func severe(kind, subject, message, advice string) statusapi.Problem {
	return statusapi.Problem{Severity: statusapi.Severe, Kind: kind, Subject: subject, Message: message, Advice: advice}
}

// graceAdvice is for an accident after which no rules were in force.
const graceAdvice = "After the repair, send POST /robots/refresh?grace=off to the admin API: otherwise search engines may fetch everything for up to a day."

// problem returns the problem of what is in force. Without a problem the severity
// is empty, and the message describes what is in force.
func (p *inForce) problem(now time.Time) statusapi.Problem {
	subject := p.subject()
	name, without := "robots.txt of "+subject, metrics.WithoutFile(p.Rules)
	if err := p.Rules.MergeError(); err != nil {
		return severe("policy", subject, fmt.Sprintf("the policy in the configuration is not in force: it can't be merged into %s: %s", name, plainError(err)),
			"Run `caddy robots policy` with this configuration: it shows the merged file, or the reason why it can't be merged.")
	}
	if p.Failures > 0 {
		return p.failure(now)
	}
	switch p.Rules.Outcome() {
	case enforce.NotRobots:
		return severe("robots_txt", subject, name+" is a web page, not a robots.txt: "+without,
			"Make the site answer /robots.txt with the text file, or with 404 if it has none. The usual causes are a catch-all route, a maintenance page with status 200, and a script that failed. "+graceAdvice)
	case enforce.Missing:
		return statusapi.Problem{Message: "there is no " + name + ": " + without}
	case enforce.Pending:
		return statusapi.Problem{Message: name + " was not read yet: it is read at the first request of a crawler"}
	}
	if p.Rules.Empty() {
		return p.empty(now)
	}
	if fault := encodingFault(p.Rules); fault != "" {
		return warning("robots_txt", subject, name+" has no rules, because "+fault+": "+without, "Replace the file by a text file in UTF-8.")
	}
	return statusapi.Problem{Message: fmt.Sprintf("%s is in force: %s, read at %s", name, quantity(p.Rules.RuleCount(), "rule"), formatTime(p.Good, now))}
}

// empty returns the problem of an empty file. It is one only if an earlier version
// that crawlers may still follow had rules: some sites have an empty file on
// purpose.
func (p *inForce) empty(now time.Time) statusapi.Problem {
	text := "robots.txt of " + p.subject() + " is empty: " + metrics.WithoutFile(p.Rules)
	i := slices.IndexFunc(p.Earlier, func(v enforce.Version) bool { return v.Rules().RuleCount() > p.Rules.RuleCount() })
	if i < 0 {
		return statusapi.Problem{Message: text}
	}
	before := &p.Earlier[i]
	text += fmt.Sprintf(". Until %s it had %s", formatTime(before.Until(), now), quantity(before.Rules().RuleCount(), "rule"))
	problem := warning("robots_txt", p.subject(), text, "If that was a mistake, put the file back. "+graceAdvice+" If it was not a mistake, ignore this: the warning ends 24 hours after the change.")
	problem.Since = timeOf(before.Until())
	return problem
}

// encodingFault says why a file without rules is not a text file; "" if it is one.
func encodingFault(rules *enforce.Rules) string {
	if rules.RuleCount() > 0 {
		return ""
	}
	const head = 4 << 10 // octets that the linter needs for it
	text := rules.Text()
	for _, f := range lint.Lint(robots.Parse(text[:min(len(text), head)]), lint.WithSelect("binary", "utf-16")) {
		return f.Message
	}
	return ""
}

// failure returns the problem of a source that can't be read.
func (p *inForce) failure(now time.Time) statusapi.Problem {
	problem := warning("robots_txt", p.subject(), fmt.Sprintf("robots.txt of %s could not be read for %s", p.subject(), ago(now.Sub(p.Failing))),
		"Request the file yourself, and look for the error in Caddy's log.")
	problem.Since = timeOf(p.Failing)
	switch {
	case p.Rules.DeniesAll():
		problem.Severity = statusapi.Severe
		problem.Message += "; crawlers may fetch nothing, because on_error deny is set"
	case p.Rules.Outcome() == enforce.Loaded && !p.Good.IsZero():
		problem.Message += "; the copy of " + formatTime(p.Good, now) + " is in force"
	case p.Kept:
		problem.Message += "; as before, no rules are in force"
	default:
		problem.Severity = statusapi.Severe
		problem.Message += "; there is no cached copy, so crawlers may fetch everything"
	}
	if p.Err != nil {
		problem.Advice = "The last read failed with: " + plainError(p.Err) + ". " + problem.Advice
	}
	return problem
}
