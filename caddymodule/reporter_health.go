package caddymodule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/shared"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// Health implements status.Reporter.
func (r *reporter) Health(scope status.Scope) (*status.Health, error) {
	now := time.Now()
	health := &status.Health{Problems: []status.Problem{}, Fleets: []status.Fleet{}, Lists: []status.List{}}
	seen := make(map[string]bool) // several handlers may have the same file
	for _, p := range r.policies(scope) {
		problem := p.problem(now)
		if key := problem.Kind + problem.Message; problem.Severity != "" && !seen[key] {
			seen[key] = true
			health.Problems = append(health.Problems, problem)
		}
	}
	health.Problems = append(health.Problems, r.modeProblems(scope)...)
	if scope.All() {
		r.addShared(health, now)
	}
	slices.SortStableFunc(health.Problems, func(a, b status.Problem) int {
		return cmp.Or(cmp.Compare(severities[a.Severity], severities[b.Severity]), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Subject, b.Subject))
	})
	if more := len(health.Problems) - status.MaxProblems; more > 0 {
		health.Problems, health.More = health.Problems[:status.MaxProblems], more
	}
	health.OK = len(health.Problems) == 0
	return health, nil
}

var severities = map[string]int{status.Severe: 0, status.Warning: 1}

// addShared adds the parts that belong to no single site.
func (r *reporter) addShared(health *status.Health, now time.Time) {
	for _, f := range r.fleets() {
		fleet := fleetStatus(f, now)
		if health.Fleets = append(health.Fleets, fleet); !fleet.Up {
			health.Problems = append(health.Problems, status.Problem{
				Severity: status.Severe, Kind: "fleet", Subject: fleet.Address, Message: fleet.Message, Since: fleet.Since,
				Advice: "Check that Redis or Valkey runs and that this server can reach it. Until then each server allows crawlers its own share of the budget.",
			})
		}
	}
	var lists []status.Problem
	for _, v := range r.verifiers() {
		for _, s := range v.Sources() {
			list, problem := listStatus(v, s, now)
			if health.Lists = append(health.Lists, list); problem.Severity != "" {
				lists = append(lists, problem)
			}
		}
		dns, problem := dnsStatus(v)
		if health.DNS == nil || !dns.OK {
			health.DNS = dns
		}
		if problem.Severity != "" {
			health.Problems = append(health.Problems, problem)
		}
	}
	health.Problems = append(health.Problems, summary(lists, len(health.Lists))...)
	slices.SortFunc(health.Lists, func(a, b status.List) int { return strings.Compare(a.URL, b.URL) })
	crawlers, rules := r.app.counters.Sizes()
	health.Memory = &status.Memory{
		Octets: r.app.ceiling.Used(), MaxOctets: r.app.ceiling.Max(),
		Crawlers: crawlers, MaxCrawlers: counters.MaxCrawlers, Lines: rules, MaxLines: counters.MaxLines,
	}
	if m := health.Memory; m.Octets > m.MaxOctets {
		health.Problems = append(health.Problems, status.Problem{
			Severity: status.Warning, Kind: "memory", Subject: "max_memory",
			Message: fmt.Sprintf("the robots.txt files in force take %d MiB of memory; the limit is %d MiB. Files of rarely visited hosts are dropped and read again", m.Octets>>20, m.MaxOctets>>20),
			Advice:  "Raise max_memory in the global option robots.",
		})
	}
	if health.Persist = r.app.counters.state(); health.Persist != nil && health.Persist.Error != "" {
		health.Problems = append(health.Problems, status.Problem{
			Severity: status.Warning, Kind: "persist", Subject: health.Persist.File,
			Message: "the file that keeps counters over a restart can't be used: " + health.Persist.Error,
			Advice:  "Check that Caddy's user may write to the file and its folder, and that the disk is not full.",
		})
	}
}

// mostListProblems is the largest number of lists with a problem each.
const mostListProblems = 3

// summary returns the problems of lists, or one problem if there are more than
// mostListProblems: then the cause is most likely the server's own connection.
func summary(problems []status.Problem, lists int) []status.Problem {
	if len(problems) <= mostListProblems {
		return problems
	}
	slices.SortFunc(problems, func(a, b status.Problem) int { return strings.Compare(a.Subject, b.Subject) })
	all := problems[0]
	all.Message = fmt.Sprintf("%d of %d lists of addresses and directories of keys can't be read now, such as %s: crawlers that need them may stay unverified", len(problems), lists, all.Subject)
	all.Advice = "Check that this server can connect to the Internet. The admin API (/robots/health) names all of them, with their errors."
	all.Subject = "lists of addresses"
	return []status.Problem{all}
}

// problem returns the problem of a policy. Without a problem the severity is
// empty, and the message describes the policy in force.
func (p *policyOf) problem(now time.Time) status.Problem {
	if err := p.Rules.MergeError(); err != nil {
		return status.Problem{
			Severity: status.Severe, Kind: "policy", Subject: p.subject(),
			Message: fmt.Sprintf("the policy in the configuration is not in force: it can't be merged into robots.txt of %s: %s", p.subject(), plainError(err)),
			Advice:  "Run `caddy robots policy` with this configuration: it shows the merged file, or the reason why it can't be merged.",
		}
	}
	if p.Failures > 0 {
		return p.failure(now)
	}
	name := "robots.txt of " + p.subject()
	switch p.Rules.Outcome() {
	case enforce.NotRobots:
		return status.Problem{
			Severity: status.Severe, Kind: "robots_txt", Subject: p.subject(),
			Message: name + " is a web page, not a robots.txt: " + metrics.WithoutFile(p.Rules),
			Advice: "Make the site answer /robots.txt with the text file, or with 404 if it has none. The usual causes are a catch-all route, a maintenance page with status 200, and a script that failed. " +
				graceAdvice,
		}
	case enforce.Missing:
		return status.Problem{Message: "there is no " + name + ": " + metrics.WithoutFile(p.Rules)}
	case enforce.Pending:
		return status.Problem{Message: name + " was not read yet: it is read at the first request of a crawler"}
	}
	if p.Rules.Empty() {
		return p.empty(now)
	}
	if fault := encodingFault(p.Rules); fault != "" {
		return status.Problem{
			Severity: status.Warning, Kind: "robots_txt", Subject: p.subject(),
			Message: name + " has no rules, because " + fault + ": " + metrics.WithoutFile(p.Rules),
			Advice:  "Replace the file by a text file in UTF-8.",
		}
	}
	return status.Problem{Message: fmt.Sprintf("%s is in force: %s, read at %s", name, quantity(p.Rules.RuleCount(), "rule"), formatTime(p.Good, now))}
}

// empty returns the problem of an empty file. It is one only if an earlier version
// that crawlers may still follow had rules: some sites have an empty file on
// purpose.
func (p *policyOf) empty(now time.Time) status.Problem {
	problem := status.Problem{Message: "robots.txt of " + p.subject() + " is empty: " + metrics.WithoutFile(p.Rules)}
	i := slices.IndexFunc(p.Earlier, func(v enforce.Version) bool { return v.Rules().RuleCount() > p.Rules.RuleCount() })
	if i < 0 {
		return problem
	}
	before := &p.Earlier[i]
	problem.Severity, problem.Kind, problem.Subject, problem.Since = status.Warning, "robots_txt", p.subject(), timeOf(before.Until())
	problem.Message += fmt.Sprintf(". Until %s it had %s", formatTime(before.Until(), now), quantity(before.Rules().RuleCount(), "rule"))
	problem.Advice = "If that was a mistake, put the file back. " + graceAdvice + " If it was not a mistake, ignore this: the warning ends 24 hours after the change."
	return problem
}

// graceAdvice is for an accident after which no rules were in force.
const graceAdvice = "After the repair, send POST /robots/refresh?grace=off to the admin API: otherwise search engines may fetch everything for up to a day."

// encodingFault says why a file without rules is not a text file; "" if it is one.
func encodingFault(p *enforce.Rules) string {
	if p.RuleCount() > 0 {
		return ""
	}
	const head = 4 << 10 // octets that the linter needs for it
	text := p.Text()
	for _, f := range lint.Lint(robots.Parse(text[:min(len(text), head)]), lint.WithSelect("binary", "utf-16")) {
		return f.Message
	}
	return ""
}

// failure returns the problem of a policy whose source can't be read.
func (p *policyOf) failure(now time.Time) status.Problem {
	problem := status.Problem{Severity: status.Severe, Kind: "robots_txt", Subject: p.subject(), Since: timeOf(p.Failing)}
	message := fmt.Sprintf("robots.txt of %s could not be read for %s", p.subject(), ago(now.Sub(p.Failing)))
	switch {
	case p.Rules.DeniesAll():
		message += "; crawlers may fetch nothing, because on_error deny is set"
	case p.Rules.Outcome() == enforce.Loaded && !p.Good.IsZero():
		problem.Severity = status.Warning
		message += "; the copy of " + formatTime(p.Good, now) + " is in force"
	case p.Kept:
		problem.Severity = status.Warning
		message += "; as before, no rules are in force"
	default:
		message += "; there is no cached copy, so crawlers may fetch everything"
	}
	problem.Message = message
	problem.Advice = "Request the file yourself, and look for the error in Caddy's log."
	if p.Err != nil {
		problem.Advice = "The last read failed with: " + plainError(p.Err) + ". " + problem.Advice
	}
	return problem
}

// modeProblems returns the sites whose mode was set through the admin API.
func (r *reporter) modeProblems(scope status.Scope) []status.Problem {
	forced := r.app.overridden()
	var monitored, enforced []string
	for _, h := range r.in(scope) {
		if !forced[h.Handler] {
			continue
		}
		if h.mode() == status.Monitor {
			monitored = append(monitored, h.sitesIn(scope)...)
		} else {
			enforced = append(enforced, h.sitesIn(scope)...)
		}
	}
	var problems []status.Problem
	add := func(sites []string, message string) {
		if len(sites) > 0 {
			slices.Sort(sites)
			sites = slices.Compact(sites)
			problems = append(problems, status.Problem{
				Severity: status.Warning, Kind: "mode", Subject: metrics.Clip(strings.Join(sites, ", ")), Message: message,
				Advice: "To return to the configured mode, set the mode `configured`, or run `caddy reload --force` (an unchanged file is not loaded without --force).", Since: timeOf(r.app.modeSince()),
			})
		}
	}
	add(monitored, "no requests are refused, because the mode was set to monitor until the next load of the configuration")
	add(enforced, "requests are refused, because the mode was set to enforce until the next load of the configuration")
	return problems
}

// listStatus returns the state of a list of addresses or a directory of keys, and
// its problem, if it has one.
func listStatus(v *shared.Verifier, s verify.SourceState, now time.Time) (status.List, status.Problem) {
	list := status.List{Kind: s.Kind.String(), URL: plainURL(s.URL), Entries: s.Entries, Read: timeOf(s.Read), Failures: s.Failures}
	list.Stale = s.Read.IsZero() || now.Sub(s.Read) > verify.FreshPeriod
	if err := v.Observer.SourceError(s.URL); err != nil {
		list.Error = plainError(err)
	}
	name := "the list of addresses"
	if s.Kind == verify.DirectorySource {
		name = "the directory of keys"
	}
	name += " at " + list.URL
	switch {
	case s.Read.IsZero() && s.Failures == 0:
		list.Stale, list.Message = false, name+" was not read yet"
		return list, status.Problem{}
	case s.Read.IsZero():
		list.Message = name + " could not be read: crawlers that need it stay unverified"
	case list.Stale:
		list.Message = fmt.Sprintf("%s was last read %s ago: it still confirms crawlers, but is too old to detect impostors", name, ago(now.Sub(s.Read)))
	case s.Failures > 0:
		list.Message = fmt.Sprintf("the last %d attempts to read %s failed; the copy of %s is in use", s.Failures, name, formatTime(s.Read, now))
	default:
		list.Message = fmt.Sprintf("%s has %d entries, last confirmed as current at %s", name, s.Entries, formatTime(s.Read, now))
	}
	if s.Failures == 0 && !list.Stale {
		return list, status.Problem{}
	}
	advice := "Check that this server can connect to that URL. The log has the first failure, and at DEBUG each one."
	if list.Error != "" {
		advice = "Check that this server can connect to that URL. The last error: " + list.Error + "."
	}
	return list, status.Problem{Severity: status.Warning, Kind: "list", Subject: list.URL, Message: list.Message, Advice: advice}
}

// mostDNSFailures is the number of failed lookups in a row that is reported as a
// problem.
const mostDNSFailures = 20

// dnsStatus returns the state of reverse DNS, and its problem, if it has one.
func dnsStatus(v *shared.Verifier) (*status.DNS, status.Problem) {
	stats := v.Stats()
	failures := v.Observer.DNSFailures()
	dns := &status.DNS{
		Confirmed: stats.Confirmed, Refuted: stats.Refuted, Failed: stats.Failed, InFlight: stats.InFlight, OK: failures < mostDNSFailures,
		Message: fmt.Sprintf("the cache has the answers for %d addresses", stats.Confirmed+stats.Refuted+stats.Failed),
	}
	if dns.OK {
		return dns, status.Problem{}
	}
	dns.Message = fmt.Sprintf("the last %d lookups in reverse DNS failed: crawlers that need it stay unverified", failures)
	return dns, status.Problem{
		Severity: status.Warning, Kind: "dns", Subject: "reverse DNS", Message: dns.Message,
		Advice: "Check the DNS resolver of this server, or set another one with `resolver` in `verify`.",
	}
}

// status returns the state of a fleet.
func fleetStatus(f *shared.Fleet, now time.Time) status.Fleet {
	fleet := status.Fleet{Address: strings.Join(f.Config.Addresses, ", "), Instances: f.Config.Instances}
	last := f.LastChange()
	switch {
	case last == nil:
		fleet.Message = "the connection is being made"
		fleet.Up = true // not a problem yet
	case last.Up:
		fleet.Up, fleet.Since = true, timeOf(last.Time)
		fleet.Message = "budgets have been shared since " + formatTime(last.Time, now)
	default:
		fleet.Since = timeOf(last.Time)
		fleet.Message = fmt.Sprintf("Redis has not answered for %s: each server counts alone", ago(now.Sub(last.Time)))
		if last.Error != nil {
			fleet.Error = plainError(last.Error)
		}
	}
	return fleet
}

// fleets returns the fleets of the configuration.
func (r *reporter) fleets() (list []*shared.Fleet) {
	for _, h := range r.all() {
		if f, ok := h.limiter.(*shared.Fleet); ok && !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	return list
}

// verifiers returns the verifiers of the configuration.
func (r *reporter) verifiers() (list []*shared.Verifier) {
	for _, h := range r.all() {
		if h.verifier != nil && !slices.Contains(list, h.verifier) {
			list = append(list, h.verifier)
		}
	}
	return list
}
