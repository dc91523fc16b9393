package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/mistakes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/shared"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/internal/background"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// addShared adds the parts that belong to no single site.
func (r *Reporter) addShared(health *statusapi.Health, now time.Time) {
	var verifiers []*shared.Verifier
	for _, h := range r.handlers() {
		if h.Verifier != nil && !slices.Contains(verifiers, h.Verifier) {
			verifiers = append(verifiers, h.Verifier)
		}
	}
	var lists, unstored []statusapi.Problem
	for _, v := range verifiers {
		for _, s := range v.Sources() {
			if s.StorageError != nil && len(unstored) == 0 {
				unstored = append(unstored, warning("list", plainURL(s.URL),
					"the copies of lists of addresses and directories of keys can't be loaded from storage or stored: after a restart, crawlers "+
						"that need them stay unverified until they are fetched again: "+plainError(s.StorageError),
					"Check that Caddy's user may read and write robots/verify in Caddy's storage, and that the disk is not full."))
			}
			list, problem := listStatus(v, s, now)
			if health.Lists = append(health.Lists, list); problem.Severity != "" {
				lists = append(lists, problem)
			}
		}
		if dns := dnsStatus(v); health.DNS == nil || !dns.OK {
			health.DNS = dns
		}
	}
	if health.DNS != nil && !health.DNS.OK {
		health.Problems = append(health.Problems, warning("dns", "reverse DNS", health.DNS.Message,
			"Check the DNS resolver of this server, or set another one with `resolver` in `verify`."))
	}
	health.Problems = append(append(health.Problems, unstored...), summarize(lists, len(health.Lists))...)
	slices.SortFunc(health.Lists, func(a, b statusapi.List) int { return strings.Compare(a.URL, b.URL) })
	crawlers, lines := r.app.Counters.Sizes()
	used, most := r.app.Ceiling.Usage()
	m := &statusapi.Memory{
		Octets: used, MaxOctets: most,
		Crawlers: crawlers, MaxCrawlers: counters.MaxCrawlers, Lines: lines, MaxLines: counters.MaxLines,
	}
	m.Evictions, m.Repeated = metrics.Evictions(now)
	if health.Memory = m; m.Repeated >= manyRepeated {
		health.Problems = append(health.Problems, mistakes.Evictions(m))
	}
	var problems []statusapi.Problem
	health.Persist, problems = r.app.Counters.state()
	health.Problems = append(append(health.Problems, problems...), r.app.Problems()...)
	for _, p := range background.Panics() {
		if now.Sub(p.Last) <= panicFor {
			health.Problems = append(health.Problems, warning("panic", p.What, fmt.Sprintf("a fault of the plugin or of what it calls: %s "+
				"panicked, %s, last at %s, and goes on: %s", p.What, quantity(p.Count, "time"), formatTime(p.Last, now), metrics.Clip(p.Value)),
				"Please report it with the stack that the log has. This message ends a day after the last time."))
		}
	}
}

// panicFor is how long a panic in the background is a problem.
const panicFor = 24 * time.Hour

// manyRepeated is how many repeated reads in a minute are a problem.
const manyRepeated = 10

// mostListProblems is the largest number of lists with a problem each.
const mostListProblems = 3

// summarize returns the problems of lists, or one problem if there are more than
// mostListProblems: then the cause is most likely the server's own connection.
func summarize(problems []statusapi.Problem, lists int) []statusapi.Problem {
	if len(problems) <= mostListProblems {
		return problems
	}
	example := slices.MinFunc(problems, func(a, b statusapi.Problem) int { return strings.Compare(a.Subject, b.Subject) }).Subject
	return []statusapi.Problem{warning("list", "lists of addresses",
		fmt.Sprintf("%d of %d lists of addresses and directories of keys can't be read now, such as %s: crawlers that need "+
			"them may stay unverified",
			len(problems), lists, example),
		"Check that this server can connect to the Internet. The admin API (/robots/health) names all of them, with their errors.")}
}

// listStatus returns the state of a list of addresses or a directory of keys, and
// its problem, if it has one.
func listStatus(v *shared.Verifier, s verify.SourceState, now time.Time) (statusapi.List, statusapi.Problem) {
	list := statusapi.List{Kind: string(s.Kind), URL: plainURL(s.URL), Entries: s.Entries, Read: timeOf(s.Read), Failures: s.Failures}
	list.Stale = s.Read.IsZero() || now.Sub(s.Read) > verify.FreshPeriod
	advice := "Check that this server can connect to that URL. The log has the first failure, and at DEBUG each one."
	if list.Error = plainError(v.Observer.SourceError(s.URL)); list.Error != "" {
		advice = "Check that this server can connect to that URL. The last error: " + list.Error + "."
	}
	name := "the list of addresses at " + list.URL
	if s.Kind == verify.DirectorySource {
		name = "the directory of keys at " + list.URL
	}
	switch {
	case s.Read.IsZero() && s.Failures == 0:
		list.Stale, list.Message = false, name+" was not read yet"
	case s.Read.IsZero():
		list.Message = name + " could not be read: crawlers that need it stay unverified"
	case list.Stale:
		list.Message = fmt.Sprintf("%s was last read %s ago: it still confirms crawlers, but is too old to detect impostors", name,
			words.Ago(now.Sub(s.Read)))
	case s.Failures > 0:
		list.Message = fmt.Sprintf("the last %d attempts to read %s failed; the copy of %s is in use", s.Failures, name, formatTime(s.Read, now))
	default:
		list.Message = fmt.Sprintf("%s has %d entries, last confirmed as current at %s", name, s.Entries, formatTime(s.Read, now))
	}
	if s.Failures == 0 && !list.Stale {
		return list, statusapi.Problem{}
	}
	return list, warning("list", list.URL, list.Message, advice)
}

// mostDNSFailures is the number of failed lookups in a row that is reported as a
// problem.
const mostDNSFailures = 20

// dnsStatus returns the state of reverse DNS.
func dnsStatus(v *shared.Verifier) *statusapi.DNS {
	stats, failures := v.Stats(), v.Observer.DNSFailures()
	dns := &statusapi.DNS{
		Confirmed: stats.Confirmed, Refuted: stats.Refuted, Failed: stats.Failed, InFlight: stats.InFlight, OK: failures < mostDNSFailures,
		Message: fmt.Sprintf("the cache has the answers for %d addresses", stats.Confirmed+stats.Refuted+stats.Failed),
	}
	if !dns.OK {
		dns.Message = fmt.Sprintf("the last %d lookups in reverse DNS failed: crawlers that need it stay unverified", failures)
	}
	return dns
}
