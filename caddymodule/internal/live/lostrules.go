package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/words"
	"github.com/caddy-robots/caddy-robots/robots"
)

// everybody stands for `*`, and for all robots together.
const everybody = "all"

// watchedFile is a robots.txt that is compared with the version that it had when
// nothing was wrong. Its JSON is in the file of the setting persist.
type watchedFile struct {
	Source   uint64      `json:"source"` // Handler.SourceID
	Host     string      `json:"host"`   // "" if all origins of the handler share the file
	Sites    []string    `json:"sites"`
	Invented bool        `json:"invented,omitempty"` // see origins.State
	Before   fileVersion `json:"before"`             // the last version without an accident
	Now      fileVersion `json:"now"`
	Since    time.Time   `json:"since"` // when the accident was seen; zero without one

	Mode      string    `json:"mode,omitempty"`
	ModeSince time.Time `json:"mode_since,omitzero"`

	// About the accident:
	Lost    string   `json:"lost,omitempty"` // why the rules are lost; "" if they are not
	Shut    []string `json:"shut,omitempty"` // who may no longer fetch /: everybody, or search engines
	Line    int      `json:"line,omitempty"` // that shuts out the first of them, or does not do what it says
	Subject string   `json:"subject,omitempty"`
	Message string   `json:"message,omitempty"`
	Advice  string   `json:"advice,omitempty"`

	look  int       // the last of Accidents.looks at which it was in force
	mark  mark      // of the version that was compared last
	began time.Time // when the read of that version began
}

// mark tells apart the versions that are compared.
type mark struct {
	last     judge.Outcome
	tag      string // Rules.ETag
	registry *crawler.Registry
}

// fileVersion is what is compared of a version, without the lines of a policy.
type fileVersion struct {
	Cause  string   `json:"cause,omitempty"` // why there is no file; "" if there is one
	Hash   uint64   `json:"hash,omitempty"`
	Rules  int      `json:"rules,omitempty"`  // Allow and Disallow lines with a path
	Size   int      `json:"size,omitempty"`   // rules, and User-agent lines
	Star   bool     `json:"star,omitempty"`   // `*` may not fetch /
	Except []string `json:"except,omitempty"` // search engines that may if Star is set, or may not if it is not set
}

// versionOf returns what is compared of what is in force, with the lines that keep everybody or
// one of the search engines from fetching /.
func versionOf(p *inForce) (v fileVersion, lines map[string]int) {
	switch {
	case p.Last == judge.Failed:
		return fileVersion{Cause: "nuls"}, nil
	case p.Last != judge.Loaded:
		return fileVersion{Cause: p.Last.String()}, nil
	}
	v.Hash = xxhash.Sum64(p.Rules.SiteText())
	file := p.Rules.File()
	if p.Rules.Published() {
		file = robots.Parse(p.Rules.SiteText())
	}
	for line := range file.Lines() {
		switch line.Directive {
		case robots.DirectiveUserAgent:
			v.Size++
		case robots.DirectiveAllow, robots.DirectiveDisallow:
			if line.Value != "" {
				v.Rules++
			}
		}
	}
	v.Size += v.Rules
	lines = make(map[string]int)
	shut := func(name string, g *robots.Group) bool {
		verdict := g.Match("/")
		lines[name] = verdict.Rule().Line
		return !verdict.Allowed
	}
	v.Star = shut(everybody, file.Star())
	for row := range p.engine().Registry().All() {
		if !row.CountsAs(crawler.Search) || row.ControlOnly {
			continue
		}
		if g := file.Group(row.Robots...); g == file.Star() {
			lines[row.Name] = lines[everybody]
		} else if shut(row.Name, g) != v.Star {
			v.Except = append(v.Except, row.Name)
		}
	}
	return v, lines
}

// shuts reports whether a search engine may not fetch /.
func (v *fileVersion) shuts(name string) bool { return v.Star != slices.Contains(v.Except, name) }

// compare sets Lost and Shut.
func (f *watchedFile) compare() {
	before, now := &f.Before, &f.Now
	f.Lost, f.Shut = "", nil
	switch {
	case before.Rules == 0:
	case now.Cause != "":
		f.Lost = now.Cause
	case now.Size == 0:
		f.Lost = "empty"
	case now.Size*10 < before.Size:
		f.Lost = "shrunk"
	}
	if now.Star && !before.Star {
		f.Shut = []string{everybody}
		return
	}
	for _, name := range slices.Concat(before.Except, now.Except) {
		if now.Cause == "" && now.shuts(name) && !before.shuts(name) && !slices.Contains(f.Shut, name) {
			f.Shut = append(f.Shut, name)
		}
	}
}

// accept makes the version of now the one without an accident.
func (f *watchedFile) accept() {
	f.Before, f.Since, f.Lost, f.Shut = f.Now, time.Time{}, "", nil
}

// watch compares the version in force with the one before it. It begins with the
// first version that it sees.
func (f *watchedFile) watch(p *inForce, now time.Time) {
	mark := mark{p.Last, p.Rules.Tag(), p.engine().Registry()}
	if mark == f.mark || p.Began.Before(f.began) && f.began.Before(now) { // another handler has read a later version
		return
	}
	version, lines := versionOf(p)
	if f.Subject == "" {
		f.mark, f.began, f.Subject, f.Before, f.Now = mark, p.Began, p.subject(), version, version
		return
	}
	same := version.Cause == f.Now.Cause && version.Hash == f.Now.Hash
	if f.Since.IsZero() && same {
		f.Before = version // only the settings changed
	}
	f.mark, f.began, f.Now, f.Subject = mark, p.Began, version, p.subject()
	if f.compare(); f.Lost == "" && f.Shut == nil {
		f.accept()
		return
	}
	if f.Since.IsZero() {
		f.Since = now
	}
	problem := p.sourceProblem(now)
	if p.Last == judge.Failed {
		problem = statusapi.Problem{Message: p.refused(now)}
	}
	f.Message, f.Advice = fmt.Sprintf("%s. Until %s it had %s", cmp.Or(problem.Message, p.describe(now)), words.Time(f.Since, now),
		quantity(f.Before.Rules, "rule")), problem.Advice
	if f.Lost == "shrunk" { // what is wrong, not that the rest is in force
		f.Message = fmt.Sprintf("robots.txt of %s lost %d of %s at %s", f.Subject, f.Before.Rules-f.Now.Rules, quantity(f.Before.Rules, "rule"),
			words.Time(f.Since, now))
	}
	if f.Shut == nil && !p.hasCopy() {
		f.Advice = strings.TrimSpace(f.Advice + " " + graceAdvice)
	}
	f.Line = 0
	switch {
	case f.Shut != nil:
		f.Line = lines[f.Shut[0]]
	case f.Lost == "shrunk" || f.Lost == "empty": // so the review is short
		wrong := p.mistake(now, metrics.Review(p.Rules, p.engine().Registry()))
		if wrong.Kind == statusapi.Mistake { // the line that costs most rules
			f.Message, f.Line = f.Message+": "+wrong.Message, wrong.Line
		}
	}
}

// acceptAdvice says how to end an accident that is none.
const acceptAdvice = "If this is on purpose, send POST /robots/refresh?accept=on to the admin API; otherwise the warning ends after 7 days."

// restore is what to do about both accidents. There is nothing to copy first: what comes second
// does harm before.
var restore = []statusapi.Action{
	{What: "Put the former file back"},
	{What: "Then read it at once, and end the grace period, in which search engines may fetch everything: refresh with grace=off",
		Text: "refresh?grace=off", Where: statusapi.Command},
	{What: "If it is on purpose, end the warning: refresh with accept=on", Text: "refresh?accept=on", Where: statusapi.Command},
}

// accidents returns the accidents of the file.
func (f *watchedFile) accidents() (list []statusapi.Problem) {
	one := statusapi.Problem{
		Severity: statusapi.Severe, Subject: f.Subject, Before: f.Before.Rules, Now: f.Now.Rules, Since: timeOf(f.Since),
		Sites: append([]string{f.Sites[0], f.Host}, f.Sites...), Actions: restore,
	}
	if f.Invented && counters.IsHostName(f.Host) {
		one.Sites[0], one.Pattern, one.Tenant = f.Host, f.Sites[0], true
	}
	if f.Lost != "" {
		lost := one
		lost.Kind, lost.Cause, lost.Message = RulesLost, f.Lost, f.Message
		if f.Shut == nil {
			lost.Line = f.Line
		}
		lost.Plain = fmt.Sprintf("robots.txt of %s lost %d of %s (%s)", f.Subject, max(0, f.Before.Rules-f.Now.Rules), quantity(f.Before.Rules, "rule"),
			strings.ReplaceAll(f.Lost, "_", " "))
		lost.Advice = strings.TrimSpace(putBack + f.Advice + " " + acceptAdvice)
		list = append(list, lost)
	}
	if len(f.Shut) > 0 {
		who := words.List(f.Shut, 5)
		if who == everybody {
			who = "all crawlers"
		}
		one.Kind, one.Crawler, one.Line = SearchShutOut, f.Shut[0], f.Line
		one.Message = fmt.Sprintf("robots.txt of %s now disallows / to %s, by line %d: search engines drop its pages", f.Subject, who, f.Line)
		one.Advice = "If that was a mistake, put the former file back. " + acceptAdvice
		list = append(list, one)
	}
	return list
}

// configure notes the mode of the site.
func (f *watchedFile) configure(handlers siteHandlers, now time.Time) {
	mode, _ := handlers.mode(cmp.Or(f.Host, f.Sites[0]), f.Sites[0])
	if f.Mode != mode || f.ModeSince.IsZero() {
		f.Mode, f.ModeSince = mode, now
	}
}
