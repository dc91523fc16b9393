package live

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/mistakes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/background"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Health implements statusapi.Reporter.
func (r *Reporter) Health(scope statusapi.Scope) (*statusapi.Health, error) {
	return r.health(scope, r.app.Counters.View(scope, statusapi.SpanHour).Crawlers, func(*inForce, string) {}), nil
}

// health is Health. It calls visit for all that is in force in the scope, with the
// Problem.Kind of its problem. crawlers are those in the scope.
//
// Of problems that are equally severe, those that people and search engines have are first, and what
// follows from another is below it.
func (r *Reporter) health(scope statusapi.Scope, crawlers []*statusapi.Crawler, visit func(p *inForce, kind string)) *statusapi.Health {
	health := &statusapi.Health{Sections: r.sections(scope)}
	accidents := r.accidents(scope)
	rest := slices.Concat(r.fileProblems(scope, accidents, visit), r.unserved(scope), r.modeProblems(scope), r.impostorProblems(scope, crawlers),
		r.monitorProblems(scope, crawlers))
	slices.SortFunc(rest, func(a, b statusapi.Problem) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Subject, b.Subject), strings.Compare(a.Message, b.Message))
	})
	health.Problems = append([]statusapi.Problem{}, slices.Concat(r.probeProblems(scope), r.sharedProblems(scope, health), accidents, rest)...)
	slices.SortStableFunc(health.Problems, func(a, b statusapi.Problem) int { // "error" before "warning"
		return cmp.Or(before(isTrouble(a), isTrouble(b)), before(!a.Tenant, !b.Tenant), strings.Compare(a.Severity, b.Severity))
	})
	if more := len(health.Problems) - statusapi.MaxProblems; more > 0 {
		health.Problems, health.More = health.Problems[:statusapi.MaxProblems], more
	}
	health.OK = !slices.ContainsFunc(health.Problems, isTrouble)
	for i := range health.Problems {
		r.advise(&health.Problems[i], scope)
	}
	return health
}

// fileProblems returns what is wrong with what is in force in a scope, but accidents. Of both, it sets
// Tenant.
func (r *Reporter) fileProblems(scope statusapi.Scope, accidents []statusapi.Problem, visit func(p *inForce, kind string)) (list []statusapi.Problem) {
	now, isNamed := r.app.Now(), func(host string) bool { return slices.Contains(scope.Hosts(), host) }
	seen := make(map[string]bool) // several handlers may have the same file
	for i := range accidents {
		p := &accidents[i]
		seen[p.Kind+p.Subject] = true            // which says why there is nothing in force
		p.Sites = p.Sites[:min(1, len(p.Sites))] // actions are about it alone
		p.Tenant = p.Tenant && !isNamed(p.Sites[0])
	}
	all := make(map[siteOf]*tenants)
	for p := range r.allInForce(scope) {
		problem := r.problem(p, now)
		visit(p, problem.Kind)
		problem.Tenant = p.Invented && !isNamed(p.Origin.Host)
		if problem.Tenant {
			site := siteOf{p.Handler, p.SiteOf(p.Origin.Host)}
			if all[site] == nil {
				all[site] = new(tenants)
			}
			if all[site].add(p, problem) {
				continue
			}
		}
		key := problem.Kind + problem.Message
		if problem.Kind == "" || problem.Kind == RulesLost || seen[key] || seen[problem.Kind+problem.Subject] { // which is an accident
			continue
		}
		seen[key] = true
		list = append(list, problem)
	}
	isTenants := func(p *statusapi.Problem) bool { // what all have in common is the server's
		return p.Tenant && !slices.ContainsFunc(r.handlers(), func(h *Handler) bool {
			t := all[siteOf{h, h.SiteOf(p.Subject)}]
			return t != nil && t.files == t.wrong && h.Owns(p.Subject)
		})
	}
	for i := range accidents {
		accidents[i].Tenant = isTenants(&accidents[i])
	}
	for i := range list {
		list[i].Tenant = list[i].Kind != "additions" && isTenants(&list[i])
	}
	for site, t := range all {
		if t.rules != nil && t.problem.Severity != "" {
			t.problem.Subject, t.problem.Tenant = statusapi.SiteName(site.name), false
			list = append(list, t.problem)
		}
	}
	return list
}

// sections returns what the steps of the handlers of sites in a scope show; who may see single hosts of
// a site is not told of all of them. Sections with the same title are one.
func (r *Reporter) sections(scope statusapi.Scope) []statusapi.Section {
	list := []statusapi.Section{}
	for _, h := range r.handlersIn(scope) {
		in := h.sitesIn(scope)
		if len(in) == 0 {
			continue
		}
		sites := words.List(words.Map(in, statusapi.SiteName), 3)
		for _, step := range h.Views {
			s := step.View(h.mode() == statusapi.Monitor)
			at := slices.IndexFunc(list, func(other statusapi.Section) bool { return other.Title == s.Title })
			if at < 0 {
				at = len(list)
				list = append(list, statusapi.Section{Title: s.Title, Note: s.Note, Rows: [][]string{},
					Columns: slices.Insert(s.Columns, 0, statusapi.Column{Name: "sites"})})
			}
			for _, row := range s.Rows {
				list[at].Rows = append(list[at].Rows, slices.Insert(row, 0, sites))
			}
		}
	}
	return list
}

// siteOf is a site of a handler.
type siteOf struct {
	*Handler
	name string
}

// tenants are the files at hosts that only the pattern of a site names. A problem that all of
// them have in common is the site's. One of a single host is its tenant's, or clients have
// invented the host: it is no problem of the server.
type tenants struct {
	files, wrong int
	isRead       bool
	rules        *judge.Rules // those of all that were read; nil if they have different ones
	problem      statusapi.Problem
}

// add adds a file with its problem, and reports whether nothing else is to be said about it.
func (t *tenants) add(p *inForce, problem statusapi.Problem) bool {
	if t.files++; problem.Kind != "" {
		t.wrong++
	}
	if problem.Kind != "" && !statusapi.IsUnmeant(problem.Kind) || p.Last == judge.Pending {
		return false
	}
	switch {
	case !t.isRead:
		t.isRead, t.rules, t.problem = true, p.Rules, problem
	case t.rules != p.Rules:
		t.rules = nil
	case t.problem.Message > problem.Message: // the same in each report
		t.problem = problem
	}
	return true
}

// unserved returns the problem that no handler is for a scope, though there are some.
func (r *Reporter) unserved(scope statusapi.Scope) []statusapi.Problem {
	if scope.All() || len(r.handlersIn(scope)) > 0 || len(r.handlers())+len(r.app.Problems()) == 0 {
		return nil
	}
	name := siteNames(scope.Hosts())
	return []statusapi.Problem{warning(statusapi.NoRules, name, "the site "+name+" has no line `robots`: nothing is refused there",
		"In the Caddyfile, write `robots` into the block of the site.")}
}

// warning returns a problem of the severity statusapi.Warning.
func warning(kind, subject, message, advice string) statusapi.Problem {
	return statusapi.Problem{Severity: statusapi.Warning, Kind: kind, Subject: subject, Message: message, Advice: advice}
}

// severe returns a problem of the severity statusapi.Severe.
func severe(kind, subject, message, advice string) statusapi.Problem {
	return statusapi.Problem{Severity: statusapi.Severe, Kind: kind, Subject: subject, Message: message, Advice: advice}
}

// graceAdvice is for an accident after which no rules were in force.
const graceAdvice = "After the repair, send POST /robots/refresh?grace=off to the admin API: otherwise search engines " +
	"may fetch everything for up to a day."

// mistake returns the problem that what is in force is most likely not meant, by a review of it.
func (p *inForce) mistake(now time.Time, review *mistakes.Review) statusapi.Problem {
	return (&mistakes.File{Subject: p.subject(), State: func() string { return p.describe(now) }, Needed: p.Settings.NeedsFile(),
		Unneeded: p.Settings.IsAboutHeaders(), Steps: p.Handler.Review, Last: p.Last, HasCopy: p.hasCopy(), Rules: p.Rules,
		Review: review}).Problem()
}

// problem returns the problem of what is in force; without a severity if nothing is wrong.
func (p *inForce) problem(now time.Time) statusapi.Problem {
	problem := p.sourceProblem(now)
	if problem.Severity == "" {
		problem = p.mistake(now, metrics.ReviewOf(p.Rules))
	}
	return problem
}

// sourceProblem is problem without what is most likely not meant.
func (p *inForce) sourceProblem(now time.Time) (none statusapi.Problem) {
	switch err := p.Rules.MergeError(); {
	case err != nil:
		return severe("additions", p.subject(), fmt.Sprintf("the lines that the configuration adds are not in force: they can't be added to "+
			"robots.txt of %s: %s", p.subject(), metrics.PlainError(err)),
			"Change what the reason names: the file that the site serves, or the place of `robots`.")
	case p.Failures > 0:
		return p.failure(now)
	case errors.Is(p.Err, judge.ErrLoop):
		return severe("robots_txt", p.subject(), p.refused(now),
			"Make the site answer /robots.txt without a redirect: crawlers can't read it either.")
	case p.Last == judge.NotRobots:
		return severe("robots_txt", p.subject(), p.refused(now), "Make the site answer /robots.txt with the text file, or with 404 if it has none. "+
			"The usual causes are a catch-all route, a maintenance page with status 200, and a script that failed.")
	}
	return none
}

// describe says what is in force where the source can be read.
func (p *inForce) describe(now time.Time) string {
	name, without := "robots.txt of "+p.subject(), metrics.WithoutFile(p.Rules)
	switch {
	case p.Last == judge.Forbidden || p.Last == judge.Redirected:
		return p.refused(now)
	case p.Rules.Outcome() == judge.Missing:
		return "there is no " + name + ": " + without
	case p.Rules.Outcome() == judge.Pending:
		return name + " was not fetched yet: it is fetched at the first request of a crawler"
	case p.Rules.Content().Empty(): // an accident if there were rules before
		return name + " is empty: " + without
	}
	message := fmt.Sprintf("%s is in force: %s, fetched at %s", name, quantity(p.Rules.RuleCount(), "rule"), words.Time(p.Good, now))
	if !p.Held.IsZero() {
		message += "; a new version is fetched again before it counts"
	}
	return message
}

// refused says what is in force while nobody may read robots.txt, it redirects to another
// host, or it is another text. It is an accident if there were rules before.
func (p *inForce) refused(now time.Time) string {
	text := fmt.Sprintf("robots.txt of %s can't be used: %s; ", p.subject(), metrics.PlainError(p.Err))
	switch {
	case !p.hasCopy():
		return text + metrics.WithoutFile(p.Rules)
	case p.Last == judge.NotRobots:
		return text + "the copy of " + words.Time(p.Good, now) + " is in force, and ends 30 days later"
	}
	return text + "the copy of " + words.Time(p.Good, now) + " is in force, and ends 24 hours later"
}

// hasCopy reports whether an earlier copy with rules is in force, because the last
// fetch gave none.
func (p *inForce) hasCopy() bool {
	return (p.Last == judge.NotRobots || p.Last == judge.Forbidden || p.Last == judge.Redirected || p.Last == judge.Failed) &&
		p.Rules.Outcome() == judge.Loaded && p.Rules.RuleCount() > 0
}

// failure returns the problem of a source that can't be read.
func (p *inForce) failure(now time.Time) statusapi.Problem {
	problem := warning("robots_txt", p.subject(), fmt.Sprintf("robots.txt of %s could not be fetched%s", p.subject(),
		lasting(now.Sub(p.Failing))),
		"Request the file yourself, and look for the error in Caddy's log.")
	problem.Since = timeOf(p.Failing)
	switch {
	case p.Rules.DeniesAll():
		problem.Severity = statusapi.Severe
		problem.Message += "; crawlers may fetch nothing, because on_error deny is set"
	case p.Rules.Outcome() == judge.Loaded && !p.Good.IsZero():
		problem.Message += "; the copy of " + words.Time(p.Good, now) + " is in force"
	case p.Kept:
		problem.Message += "; as before, no rules are in force"
	default:
		problem.Severity = statusapi.Severe
		problem.Message += "; there is no last good copy, so " + metrics.WithoutFile(p.Rules)
	}
	if p.Err != nil {
		problem.Advice = "The last fetch failed with: " + metrics.PlainError(p.Err) + ". " + problem.Advice
	}
	return problem
}

// sharedProblems returns the problems that belong to no single site, if the scope is all sites, and adds
// the state of what all share.
func (r *Reporter) sharedProblems(scope statusapi.Scope, health *statusapi.Health) (list []statusapi.Problem) {
	if !scope.All() {
		return nil
	}
	now := r.app.Now()
	used, most := r.app.Ceiling.Usage()
	health.Memory = &statusapi.Memory{Octets: used, MaxOctets: most}
	health.Persist, list = r.app.Counters.state()
	dropped, repeated := metrics.Evictions(now)
	if repeated >= manyRepeated {
		list = append(list, evicted(health.Memory, dropped, repeated))
	}
	for _, p := range background.Panics() {
		if now.Sub(p.Last) <= panicFor {
			list = append(list, warning("panic", p.What, fmt.Sprintf("a fault of the plugin or of what it calls: %s "+
				"panicked, %s, last at %s, and goes on: %s", p.What, quantity(p.Count, "time"), words.Time(p.Last, now), metrics.Clip(p.Value)),
				"Please report it with the stack that the log has. This message ends a day after the last time."))
		}
	}
	return list
}

// panicFor is how long a panic in the background is a problem.
const panicFor = 24 * time.Hour

// manyRepeated is how many repeated reads in a minute are a problem.
const manyRepeated = 10

// evicted returns the problem that files of robots.txt are dropped, and fetched again, too often.
func evicted(m *statusapi.Memory, dropped, repeated int) statusapi.Problem {
	subject, correction := "max_origins", "Set max_origins above the number of your hosts."
	if m.Octets > m.MaxOctets/10*9 {
		subject, correction = "max_memory", "Raise max_memory in the global option robots."
	}
	return warning("memory", subject,
		fmt.Sprintf("in one minute, the robots.txt files of %d hosts were dropped because of %s, and %d files were fetched "+
			"again: crawlers wait for them", dropped, subject, repeated),
		correction)
}
