package suggest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	challengestep "github.com/caddy-robots/caddy-robots/caddymodule/steps/challenge"
	"github.com/caddy-robots/caddy-robots/internal/audit"
)

// forge is a log of a forge: what people read, and strangers that each request one page.
type forge struct {
	*stormLog
	*rand.Rand
	owners, repositories []string
	format               string // of owner, repository, kind and number of a file
}

func newForge() *forge {
	return &forge{newStorm(), rand.New(rand.NewPCG(7, 8)), strings.Fields("ann bob cem dan eve fay gus hal"), strings.Fields("app docs infra lib web"),
		"/%s/%s/%s/branch/main/src/file%d.go"}
}

// written gives all paths another format.
func (f *forge) written(format string) *forge {
	f.format = format
	return f
}

// named gives all repositories one name.
func (f *forge) named(name string) *forge {
	f.repositories = []string{name}
	return f
}

// page returns the path of a page of a kind, such as blame, in some repository.
func (f *forge) page(kind string) string {
	return fmt.Sprintf(f.format, f.owners[f.IntN(len(f.owners))], f.repositories[f.IntN(len(f.repositories))], kind, f.IntN(4000))
}

// took adds a request with its duration.
func (f *forge) took(at time.Duration, client, target, agent string, seconds float64) {
	f.add(at, client, target, agent)
	line := &f.lines[len(f.lines)-1]
	line.text = strings.TrimSuffix(line.text, "\n") + fmt.Sprintf(" %.3f\n", seconds)
}

// read adds people with so many versions of browsers, who read pages of kinds for a time.
func (f *forge) read(people, versions int, period time.Duration, kinds ...string) *forge {
	for i := range people {
		at, client := time.Duration(f.Int64N(int64(period-10*time.Minute))), fmt.Sprintf("192.0.2.%d", i)
		for range 8 {
			f.took(at, client, f.page(kinds[f.IntN(len(kinds))]), chrome(200+i%versions), 0.05)
			f.took(at+time.Second, client, "/assets/style.css", chrome(200+i%versions), 0.001)
			at += time.Minute
		}
	}
	return f
}

// storm adds so many lone addresses a minute, for pages of kinds that take seconds.
func (f *forge) storm(perMinute float64, period time.Duration, seconds float64, kinds ...string) *forge {
	n := int(perMinute * period.Minutes())
	for i := range n {
		f.took(time.Duration(i)*period/time.Duration(n), fmt.Sprintf("198.%d.%d.%d", 18+i/62500, i/250%250, i%250), f.page(kinds[i%len(kinds)]), chrome(100+i%43), seconds)
	}
	return f
}

// again adds 2,000 lone addresses, with the browsers of people, that each request so many pages of kinds.
func (f *forge) again(pages int, period time.Duration, kinds ...string) *forge {
	for i := range 2000 * pages {
		f.took(time.Duration(f.Int64N(int64(period))), fmt.Sprintf("198.18.%d.%d", i%2000/250, i%250), f.page(kinds[i%len(kinds)]), chrome(200+i%30), 2)
	}
	return f
}

func challengeOf(r *audit.Report) (s audit.Suggestion, paths string) {
	for _, one := range r.Suggestions {
		if one.Kind == challenge {
			s = one
			paths, _, _ = strings.Cut(strings.TrimPrefix(one.Text, "challenge "), " {")
		}
	}
	return s, paths
}

// A storm has a suggestion that names what is stormed, however slow it is, whoever owns the
// pages, and however few people are in the log. Where there are too few to be certain, that is
// said first.
func TestStorms(t *testing.T) {
	const hours, both = time.Hour, "/*/*/blame/* /*/*/commits/*"
	people := func() *forge { return newForge().read(200, 30, hours, "src", "issues", "blame") }
	for _, c := range []struct {
		what  string
		log   *forge
		paths string // sorted
		over  string
		few   bool
	}{
		{"a fast one", people().storm(500, hours, 2, "blame", "commits"), both, "60/1m", false},
		{"100 a minute", people().storm(100, hours, 2, "blame", "commits"), both, "60/1m", false},
		{"100 a minute, of four kinds", people().storm(100, hours, 2, "blame", "commits", "compare", "raw"), "/*/*/blame/* /*/*/commits/* /*/*/compare/* /*/*/raw/*", "60/1m", false},
		{"100 a minute, of eight kinds", people().storm(100, hours, 2, "blame", "commits", "compare", "raw", "archive", "wiki", "releases", "activity"),
			"/*/*/activity/* /*/*/archive/* /*/*/blame/* /*/*/commits/* /*/*/compare/* /*/*/raw/* /*/*/releases/* /*/*/wiki/*", "60/1m", false},
		{"30 a minute", people().storm(30, hours, 2, "blame", "commits"), both, "20/1m", false},
		{"10 a minute", people().storm(10, hours, 2, "compare", "commits"), "/*/*/commits/* /*/*/compare/*", "60/10m", false},
		{"repositories that all have one name", newForge().named("app").read(200, 30, hours, "src", "issues").storm(100, hours, 2, "blame", "commits"), both, "60/1m", false},
		{"names after a hyphen", newForge().read(200, 30, hours, "-/src", "-/issues").storm(100, hours, 2, "-/blame", "-/commits"), "/*/*/*/blame/* /*/*/*/commits/*", "60/1m", false},
		{"names before what all have", newForge().written("/%[2]s/%[3]s/src/file%[4]d.go").read(200, 30, hours, "tree").storm(100, hours, 2, "blame", "diff"), "/*/blame/* /*/diff/*", "60/1m", false},
		{"six people", newForge().read(6, 2, hours, "src", "issues", "blame").storm(200, hours, 2, "blame", "commits"), both, "60/1m", true},
		{"addresses that come again", people().again(4, hours, "blame", "commits"), both, "60/1m", false},
		{"nobody else", newForge().storm(200, hours, 2, "blame", "commits"), both, "60/1m", true},
	} {
		r := suggested(t, c.log.bytes(), ownFile, nil)
		s, paths := challengeOf(r)
		list := strings.Fields(paths)
		slices.Sort(list)
		if got := strings.Join(list, " "); got != c.paths || !strings.HasSuffix(s.Text, "over "+c.over+"\n}") || s.Share < 0.6 {
			t.Errorf("%s: %q saves %.2f, want %s, over %s: %q", c.what, s.Text, s.Share, c.paths, c.over, r.Suggested.Notes)
		}
		first := r.Findings[0].Code == "too_few" && strings.HasPrefix(r.Suggested.Notes[0], "Too few to tell")
		if slices.ContainsFunc(r.Findings, func(f audit.Finding) bool { return strings.Contains(f.Change, "--suggest") }) {
			t.Errorf("%s: with suggestions, a finding asks for them: %+v", c.what, r.Findings)
		}
		if r.Strangers.Few != c.few || first != c.few {
			t.Errorf("%s: few is %v: %q, %q", c.what, r.Strangers.Few, r.Findings[0].Text, r.Suggested.Notes)
		}
	}
}

// What the report calls a cost, and nothing is suggested for, has a sentence that says why. No
// sentence contradicts a suggestion.
func TestWhyNothingIsSuggested(t *testing.T) {
	few := culprit(gptbot, 900, 1, "/ann/app/blame/branch/file#.go")
	few.from = 5
	program, python := culprit("curl/8.5.0", 900, 1, "/api/#"), culprit("python-requests/2.32", 800, 1, "/api/#")
	storm := newForge().read(60, 30, 3*time.Hour, "src").storm(200, 3*time.Hour, 5, "blame")
	storm.begin = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	const nothing = "costs more than 2 %"
	for _, c := range []struct {
		what   string
		log    []byte
		change func(*Input)
		want   []string // parts of notes
		not    string
	}{
		{"few addresses", write(days, append(visitors("/x"), few)...), nil, []string{"GPTBot: it came from 5 addresses"}, nothing},
		{"a search engine", write(days, append(visitors("/x"), culprit(googlebot, 2000, 1, "/x#"))...), nil, []string{"Googlebot: a search engine is not refused"}, nothing},
		{"a program", write(days, append(visitors("/x"), program)...), nil, []string{"curl: programs of people and of your own"}, nothing},
		{"two programs", write(days, append(visitors("/x"), program, python)...), nil, []string{"curl: programs of people", "python-requests: programs of people"}, nothing},
		{"a program in a short log", write(1, append(visitors("/x"), program, culprit(gptbot, 900, 1, "/y#"))...), nil, []string{"3 days are", "curl: programs of people"}, nothing},
		{"a flood in a short log", write(1, append(visitors("/x"), flow{agent: spider, perDay: 5000, from: 50, seconds: 0.3, burst: true, targets: []string{"/list?a=#"}})...), nil,
			[]string{"not enough to suggest another limit"}, nothing},
		{"forbidden already in a short log", write(1, append(visitors("/x"), culprit(spider, 900, 1, "/y#"), culprit(gptbot, 900, 1, "/private/#"))...), nil,
			[]string{"3 days are", "GPTBot: the rules refuse most"}, "ExampleSpider:"},
		{"forbidden already", write(days, append(visitors("/x"), culprit(gptbot, 900, 1, "/private/#"))...), nil, []string{"GPTBot: the rules refuse most"}, nothing},
		{"nothing", newForge().read(60, 30, days*24*time.Hour, "src").bytes(), nil, []string{"Nothing that robots request under their own names " + nothing}, ""},
		{"nothing, where everybody opens one page", newStorm().strangers(300, "/app", "/style.css").bytes(), nil, []string{"Nothing that robots request under their own names " + nothing}, ""},
		{"nothing, where people's browsers fetch no files", write(days, visitors("/x")[:2]...), nil,
			[]string{"not known whether people or robots", "nothing that robots request under their own names " + nothing}, "Nothing that"},
		{"a storm alone", write(days, visitors("/x", "/style.css")...), func(in *Input) { in.Options.Files = append(in.Options.Files, memory(storm.bytes())) },
			[]string{"Besides, nothing that robots request under their own names " + nothing}, "Nothing that"},
		{"a storm of the front page", newStorm().people(120, "/style.css", "/", "/about").strangers(3000, "/", "").bytes(), nil, []string{"they are the front page or all pages"}, "Nothing that"},
		{"a storm where there is a challenge", storm.bytes(), func(in *Input) { in.Steps = append(in.Steps, &challengestep.Challenge{Paths: []string{"/x/*"}}) },
			[]string{"has a challenge already", "most of their pages: /*/*/blame/*."}, ""},
		{"a storm of one of the block's hosts", storm.bytes(), func(in *Input) { in.Hosts = []string{"example.com"} },
			[]string{"In a block of its own, the host needs one for these paths", "most of their pages: /*/*/blame/*."}, ""},
		{"a trickle", newForge().read(200, 30, 50*time.Hour, "src", "blame").storm(0.1, 50*time.Hour, 2, "commits").bytes(), nil, []string{"fewer than 60 pages there in each ten minutes"}, ""},
	} {
		r := suggested(t, c.log, ownFile, c.change)
		notes := strings.Join(r.Suggested.Notes, "\n")
		for _, want := range c.want {
			if !strings.Contains(notes, want) {
				t.Errorf("%s: no note %q: %d suggestions, %q", c.what, want, len(r.Suggestions), r.Suggested.Notes)
			}
		}
		if c.not != "" && strings.Contains(notes, c.not) {
			t.Errorf("%s: a note says %q: %q", c.what, c.not, r.Suggested.Notes)
		}
	}
}

// One limit of a forge names the kinds of pages that cost, and not the repositories that all
// kinds have.
func TestLimitsNameWhatCosts(t *testing.T) {
	f := newForge().read(100, 30, days*24*time.Hour, "src", "issues")
	for i := range 4000 {
		kind, seconds := []string{"blame", "commits", "src", "issues", "raw"}[i%5], 0.05
		if i%5 < 2 {
			seconds = 3
		}
		f.took(time.Duration(f.Int64N(int64(days*24*time.Hour))), fmt.Sprintf("20.171.207.%d", f.IntN(60)), f.page(kind), spider, seconds)
	}
	r := suggested(t, f.bytes(), ownFile, nil)
	var got []string
	for _, s := range r.Suggestions {
		got = append(got, patternsOf(s)...)
	}
	slices.Sort(got)
	if strings.Join(got, " ") != "/*/*/blame/branch/main/src/ /*/*/commits/branch/main/src/" || strings.Count(kinds(r), "limit") != 1 {
		t.Errorf("%q: %s", got, kinds(r))
	}
}

// One User-Agent that storms pages which others hardly want has a suggestion with what it would have
// saved, though it fetches style sheets, or a sentence that says why none helps.
func TestFleets(t *testing.T) {
	for _, c := range []struct {
		perMinute int
		over      string
	}{{100, "60/1m"}, {20, "20/1m"}, {2, ""}} {
		const period = 3 * time.Hour
		f := newForge().read(200, 30, period, "src", "issues")
		for i := range c.perMinute * int(period.Minutes()) {
			at, client := time.Duration(f.Int64N(int64(period))), fmt.Sprintf("198.18.%d.%d", i/250, i%250)
			f.took(at, client, f.page("blame"), chrome(99), 2)
			f.took(at+time.Second, client, "/assets/style.css", chrome(99), 0.001)
		}
		r := suggested(t, f.bytes(), ownFile, nil)
		s, paths := challengeOf(r)
		switch notes := strings.Join(r.Suggested.Notes, "\n"); {
		case !strings.Contains(notes, "a fleet of robots"):
			t.Errorf("%d a minute: %q", c.perMinute, notes)
		case c.over == "":
			if paths != "" || !strings.Contains(notes, "No challenge is suggested for /*/*/blame/branch/main/src/*: clients with one User-Agent had fewer than 60 pages") {
				t.Errorf("%d a minute: %q, %q", c.perMinute, s.Text, notes)
			}
		case paths != "/*/*/blame/branch/main/src/*", !strings.HasSuffix(s.Text, "over "+c.over+"\n}"), s.Share < 0.5, s.Addresses < 1000, s.Asked > 5:
			t.Errorf("%d a minute: %+v, %q", c.perMinute, s, notes)
		}
		if slices.ContainsFunc(r.Findings, func(f audit.Finding) bool { return strings.Contains(f.Change, "--suggest") }) {
			t.Errorf("%d a minute: with suggestions, a finding asks for them: %+v", c.perMinute, r.Findings)
		}
	}
}

// Patterns of queries name what is expensive, and not whose it is, nor what people's pages have too.
func TestQueriesNameWhatCosts(t *testing.T) {
	for _, c := range []struct{ people, storm, want, limit string }{
		{"/viewtopic.php?f=#&t=#", "/viewtopic.php?f=#&t=#&p=#", "/viewtopic.php?*p=", ""},
		{"/viewtopic.php?f=#&t=#", "/memberlist.php?mode=viewprofile&u=#", "/memberlist.php?*mode=viewprofile", "/memberlist.php?*mode=viewprofile"},
		{"/index.php?action=view&id=#", "/index.php?action=diff&id=#", "/index.php?*action=diff", "/index.php?*action=diff"},
		{"/index.php?topic=#.0", "/index.php?action=profile;u=#", "/index.php?*action=profile", "/index.php?*action=profile"},
		{"/index.php?title=P#", "/index.php?title=P#&diff=#&oldid=#", "/index.php?*diff=", "/index.php?*diff="},
		{"/index.php?title=P#&action=edit", "/index.php?title=P#&action=history&limit=#&offset=#&dir=prev", "/index.php?*action=history", "/index.php?*action=history"},
		{"/?p=app.git;a=summary", "/?p=app.git;a=blame;f=x#.c;hb=#", "/?*a=blame", "/?*a=blame"},
	} {
		l := newStorm().people(300, "/style.css", c.people, "/", c.people).strangers(3000, c.storm, "")
		if _, got := challengeOf(suggested(t, l.bytes(), ownFile, nil)); got != c.want {
			t.Errorf("%s: strangers: %q, want %q", c.storm, got, c.want)
		}
		r := suggested(t, write(days, append(visitors(c.people), culprit(spider, 900, 1, c.storm), flow{agent: gptbot, perDay: 300, from: 60, seconds: 0.01, targets: []string{c.people}})...), ownFile, nil)
		var got []string
		for _, s := range r.Suggestions {
			got = append(got, patternsOf(s)...)
		}
		if c.limit != "" && !slices.Contains(got, c.limit) {
			t.Errorf("%s: a robot: %q, want %q", c.storm, got, c.limit)
		}
	}
}
