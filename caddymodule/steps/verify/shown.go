package verify

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// View implements step.Viewer.
func (v *Verify) View(bool) step.Section {
	sources, now := v.verifier.Sources(), clock.Now()
	trouble := 0
	for _, s := range sources {
		if problemOf(s, now).Severity != "" {
			trouble++
		}
	}
	return step.Section{
		Title:   "Addresses and keys by which crawlers are verified",
		Columns: []step.Column{{Name: "lists", Number: true}, {Name: "with a problem", Number: true}},
		Rows:    [][]string{{strconv.Itoa(len(sources)), strconv.Itoa(trouble)}},
		Note:    "Lists of addresses and directories of keys.",
	}
}

// problems returns the problems of all verifiers that run.
func problems() (list []step.Problem) { return problemsOf(verifiers.Values(), clock.Now()) }

// mostDNSFailures is the number of failed lookups in a row that is reported as a
// problem.
const mostDNSFailures = 20

func problemsOf(verifiers []*verifier, now time.Time) (list []step.Problem) {
	var unread, unstored, dns []step.Problem
	sources := 0
	for _, v := range verifiers {
		for _, s := range v.Sources() {
			if s.StorageError != nil && len(unstored) == 0 {
				unstored = append(unstored, warning("list", metrics.PlainURL(s.URL),
					"the copies of lists of addresses and directories of keys can't be loaded from storage or stored: after a restart, crawlers "+
						"that need them stay unverified until they are fetched again: "+metrics.PlainError(s.StorageError),
					"Check that Caddy's user may read and write robots/verify in Caddy's storage, and that the disk is not full."))
			}
			sources++
			if p := problemOf(s, now); p.Severity != "" {
				unread = append(unread, p)
			}
		}
		if n := v.dnsFailures.Load(); n >= mostDNSFailures && len(dns) == 0 {
			dns = append(dns, warning("dns", "reverse DNS",
				fmt.Sprintf("the last %d lookups in reverse DNS failed: crawlers that need it stay unverified", n),
				"Check the DNS resolver of this server, or set another one with `resolver` in `verify`."))
		}
	}
	return slices.Concat(dns, unstored, summarize(unread, sources))
}

// mostListProblems is the largest number of lists with a problem each.
const mostListProblems = 3

// summarize returns the problems of lists, or one problem if there are more than
// mostListProblems: then the cause is most likely the server's own connection.
func summarize(problems []step.Problem, lists int) []step.Problem {
	if len(problems) <= mostListProblems {
		return problems
	}
	example := slices.MinFunc(problems, func(a, b step.Problem) int { return strings.Compare(a.Subject, b.Subject) }).Subject
	return []step.Problem{warning("list", "lists of addresses",
		fmt.Sprintf("%d of %d lists of addresses and directories of keys can't be read now, such as %s: crawlers that need "+
			"them may stay unverified",
			len(problems), lists, example),
		"Check that this server can connect to the Internet. The log has the first failure of each of them.")}
}

// problemOf returns the problem of a list of addresses or a directory of keys; its Severity is
// "" if there is none.
func problemOf(s verify.SourceState, now time.Time) step.Problem {
	address, message := metrics.PlainURL(s.URL), ""
	name := "the list of addresses at " + address
	if s.Kind == verify.DirectorySource {
		name = "the directory of keys at " + address
	}
	switch {
	case s.Read.IsZero() && s.Failures == 0: // it is being read
		return step.Problem{}
	case s.Read.IsZero():
		message = name + " could not be read: crawlers that need it stay unverified"
	case now.Sub(s.Read) > verify.FreshPeriod:
		message = fmt.Sprintf("%s was last read %s ago: it still confirms crawlers, but is too old to detect impostors", name,
			words.Ago(now.Sub(s.Read)))
	case s.Failures > 0:
		message = fmt.Sprintf("the last %d attempts to read %s failed; the copy of %s is in use", s.Failures, name,
			s.Read.UTC().Format("2 January 15:04 UTC"))
	default:
		return step.Problem{}
	}
	advice := "Check that this server can connect to that URL. The log has the first failure, and at DEBUG each one."
	if text := metrics.PlainError(s.Err); text != "" {
		advice = "Check that this server can connect to that URL. The last error: " + text + "."
	}
	return warning("list", address, message, advice)
}

func warning(kind, subject, message, advice string) step.Problem {
	return step.Problem{Severity: statusapi.Warning, Kind: kind, Subject: subject, Message: message, Advice: advice}
}
