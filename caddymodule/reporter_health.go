package caddymodule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// Health implements status.Reporter.
func (r *reporter) Health(scope status.Scope) (*status.Health, error) {
	now := time.Now()
	health := &status.Health{Problems: []status.Problem{}, Fleets: []status.Fleet{}, Lists: []status.List{}}
	told := make(map[string]bool) // of a file that several handlers have
	for _, p := range r.policies(scope) {
		problem := p.problem(now)
		if key := problem.Kind + problem.Message; problem.Severity != "" && !told[key] {
			told[key] = true
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

// addShared adds what belongs to no site.
func (r *reporter) addShared(health *status.Health, now time.Time) {
	for _, f := range r.fleets() {
		told := f.told(now)
		if health.Fleets = append(health.Fleets, told); !told.Up {
			health.Problems = append(health.Problems, status.Problem{
				Severity: status.Severe, Kind: "fleet", Subject: told.Address, Message: told.Message, Since: told.Since,
				Advice: "Check that Redis or Valkey runs and can be reached from this server. Until then each server holds crawlers to its own part of the budget.",
			})
		}
	}
	for _, v := range r.verifiers() {
		for _, s := range v.Sources() {
			list, problem := v.listStatus(s, now)
			if health.Lists = append(health.Lists, list); problem.Severity != "" {
				health.Problems = append(health.Problems, problem)
			}
		}
		dns, problem := v.dnsStatus()
		if health.DNS == nil || !dns.OK {
			health.DNS = dns
		}
		if problem.Severity != "" {
			health.Problems = append(health.Problems, problem)
		}
	}
	slices.SortFunc(health.Lists, func(a, b status.List) int { return strings.Compare(a.URL, b.URL) })
	crawlers, rules := r.app.counters.Sizes()
	health.Memory = &status.Memory{
		Policies: r.app.ceiling.Used(), MaxPolicies: r.app.ceiling.Max(),
		Crawlers: crawlers, MaxCrawlers: counters.MaxCrawlers, Rules: rules, MaxRules: counters.MaxRules,
	}
	if m := health.Memory; m.Policies > m.MaxPolicies {
		health.Problems = append(health.Problems, status.Problem{
			Severity: status.Warning, Kind: "memory", Subject: "max_memory",
			Message: fmt.Sprintf("the robots.txt files in force take %d MiB of %d MiB, so those of rarely visited hosts are read again and again", m.Policies>>20, m.MaxPolicies>>20),
			Advice:  "Raise max_memory in the global option robots.",
		})
	}
	if health.Persist = r.app.counters.state(); health.Persist != nil && health.Persist.Error != "" {
		health.Problems = append(health.Problems, status.Problem{
			Severity: status.Warning, Kind: "persist", Subject: health.Persist.File,
			Message: "the file that keeps counters over a restart can't be used: " + health.Persist.Error,
			Advice:  "Check that Caddy's user may write to the file and its folder, and that there is room on the disk.",
		})
	}
}

// problem tells what is wrong with a policy; without a severity nothing is, and
// the message tells what is in force.
func (p *policyOf) problem(now time.Time) status.Problem {
	if err := p.Policy.MergeError(); err != nil {
		return status.Problem{
			Severity: status.Severe, Kind: "merge", Subject: p.subject(),
			Message: fmt.Sprintf("the lines of the policy are not in force in robots.txt of %s: %s", p.subject(), plainError(err)),
			Advice:  "Run `caddy robots policy` with this configuration: it shows the file that the policy makes, and why it can't be merged.",
		}
	}
	if p.Failures > 0 {
		return p.failure(now)
	}
	name := "robots.txt of " + p.subject()
	switch p.Policy.Outcome() {
	case enforce.NotRobots:
		return status.Problem{
			Severity: status.Severe, Kind: "policy", Subject: p.subject(),
			Message: name + " is a web page and no robots.txt: crawlers may fetch everything",
			Advice:  "Have the site answer /robots.txt with the text file, or with 404 if it has none. Often a catch-all route answers it.",
		}
	case enforce.Missing:
		return status.Problem{Message: "there is no " + name + ": crawlers may fetch everything"}
	case enforce.Pending:
		return status.Problem{Message: name + " was not read yet: the first request of a crawler has it read"}
	}
	return status.Problem{Message: fmt.Sprintf("%s is in force: %s, read at %s", name, quantity(p.Policy.Rules(), "rule"), formatTime(p.Good, now))}
}

// failure tells what it means that the source of a policy fails.
func (p *policyOf) failure(now time.Time) status.Problem {
	problem := status.Problem{Severity: status.Severe, Kind: "policy", Subject: p.subject(), Since: timeOf(p.Failing)}
	message := fmt.Sprintf("robots.txt of %s could not be read for %s", p.subject(), ago(now.Sub(p.Failing)))
	switch {
	case p.Policy.DeniesAll():
		message += "; crawlers may fetch nothing, as on_error deny has it"
	case p.Policy.Outcome() == enforce.Loaded && !p.Good.IsZero():
		problem.Severity = status.Warning
		message += "; the copy of " + formatTime(p.Good, now) + " is in force"
	case p.Kept:
		problem.Severity = status.Warning
		message += "; as before, there are no rules in force"
	default:
		message += "; there is no copy, so crawlers may fetch everything"
	}
	problem.Message = message
	problem.Advice = "Open the file as a crawler would and look at Caddy's log for why it fails"
	if p.Err != nil {
		problem.Advice += ": " + plainError(p.Err)
	}
	problem.Advice += "."
	return problem
}

// modeProblems tells of sites whose mode is not the configuration's.
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
	tell := func(sites []string, message string) {
		if len(sites) > 0 {
			slices.Sort(sites)
			sites = slices.Compact(sites)
			problems = append(problems, status.Problem{
				Severity: status.Warning, Kind: "mode", Subject: clip(strings.Join(sites, ", ")), Message: message,
				Advice: "Set the mode `configured`, or reload the configuration, to end this.", Since: timeOf(r.app.modeSince()),
			})
		}
	}
	tell(monitored, "nothing is refused, because the mode was set to monitor until the next load of the configuration")
	tell(enforced, "requests are refused, because the mode was set to enforce until the next load of the configuration")
	return problems
}

// listStatus tells of a list of addresses or a directory of keys.
func (p *pooledVerifier) listStatus(s verify.SourceState, now time.Time) (status.List, status.Problem) {
	list := status.List{Kind: s.Kind.String(), URL: plainURL(s.URL), Entries: s.Entries, Read: timeOf(s.Read), Failures: s.Failures}
	list.Stale = s.Read.IsZero() || now.Sub(s.Read) > verify.FreshPeriod
	if err, ok := p.failing.Load(s.URL); ok {
		list.Error = plainError(err.(error))
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
		list.Message = name + " could not be read: claims that need it stay unverified"
	case list.Stale:
		list.Message = fmt.Sprintf("%s is %s old: it confirms crawlers, and tells no impostor any longer", name, ago(now.Sub(s.Read)))
	case s.Failures > 0:
		list.Message = fmt.Sprintf("%s could not be read again %d times; the copy of %s is in use", name, s.Failures, formatTime(s.Read, now))
	default:
		list.Message = fmt.Sprintf("%s has %d entries, found current at %s", name, s.Entries, formatTime(s.Read, now))
	}
	if s.Failures == 0 && !list.Stale {
		return list, status.Problem{}
	}
	advice := "Check that this server may connect to that address; the log has each failure."
	if list.Error != "" {
		advice = "Check that this server may connect to that address. The last error: " + list.Error + "."
	}
	return list, status.Problem{Severity: status.Warning, Kind: "list", Subject: list.URL, Message: list.Message, Advice: advice}
}

// mostDNSFailures is how many lookups in a row may fail before DNS is said to
// be down.
const mostDNSFailures = 20

// dnsStatus tells of reverse DNS.
func (p *pooledVerifier) dnsStatus() (*status.DNS, status.Problem) {
	stats := p.Stats()
	failures := p.dnsFailures.Load()
	dns := &status.DNS{
		Confirmed: stats.Confirmed, Refuted: stats.Refuted, Failed: stats.Failed, InFlight: stats.InFlight, OK: failures < mostDNSFailures,
		Message: fmt.Sprintf("the answers for %d addresses are in the cache", stats.Confirmed+stats.Refuted+stats.Failed),
	}
	if dns.OK {
		return dns, status.Problem{}
	}
	dns.Message = fmt.Sprintf("the last %d lookups in reverse DNS failed: crawlers that are verified by DNS stay unverified", failures)
	return dns, status.Problem{
		Severity: status.Warning, Kind: "dns", Subject: "reverse DNS", Message: dns.Message,
		Advice: "Check the DNS resolver of this server, or name another one with `resolver` in verify.",
	}
}

// told tells of a fleet.
func (p *pooledFleet) told(now time.Time) status.Fleet {
	told := status.Fleet{Address: strings.Join(p.config.Addresses, ", "), Instances: p.config.Instances, Up: p.up.Load()}
	last := p.last.Load()
	switch {
	case last == nil:
		told.Message = "the connection is being made"
		told.Up = true // so far nothing is wrong
	case told.Up:
		told.Since = timeOf(last.at)
		told.Message = "budgets are shared since " + formatTime(last.at, now)
	default:
		told.Since = timeOf(last.at)
		told.Message = fmt.Sprintf("Redis is away for %s: each server counts for itself", ago(now.Sub(last.at)))
		if last.err != nil {
			told.Error = plainError(last.err)
		}
	}
	return told
}

// fleets returns the fleets of the configuration.
func (r *reporter) fleets() (list []*pooledFleet) {
	for _, h := range r.all() {
		if f, ok := h.limiter.(*pooledFleet); ok && !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	return list
}

// verifiers returns what checks claims in the configuration.
func (r *reporter) verifiers() (list []*pooledVerifier) {
	for _, h := range r.all() {
		if h.verifier != nil && !slices.Contains(list, h.verifier) {
			list = append(list, h.verifier)
		}
	}
	return list
}
