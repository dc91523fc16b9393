package challenge

import (
	"fmt"
	"testing"
	"time"
)

// A fleet with one User-Agent that fetches a style sheet with each page counts like lone
// addresses, also if many people have its User-Agent, and does not where pages of the paths
// are as many as for others.
func TestCohorts(t *testing.T) {
	for name, tt := range map[string]struct {
		storms string // the User-Agent of the fleet
		want   bool
	}{
		"a User-Agent of its own":         {"Mozilla/5.0 (Fleet)", true},
		"the commonest of the visitors'":  {"Mozilla/5.0 (Visitor 0)", true},
		"as many pages as all others get": {"", false},
	} {
		s := newSite(t, nil)
		visit := func(i int, agent, target string) {
			s.ask("GET", target, address(i), "User-Agent", agent)
			s.ask("GET", "/style.css", address(i), "User-Agent", agent)
		}
		for i := range 300 { // visitors of other pages, some of whom see the paths
			agent := fmt.Sprintf("Mozilla/5.0 (Visitor %d)", max(0, i%6-1))
			visit(i, agent, "/")
			if i%10 == 0 {
				visit(i, agent, "/blame/x")
			}
		}
		for i := range 3 * 60 * 5 {
			if i%5 == 0 {
				s.now = s.now.Add(time.Second)
			}
			agent := tt.storms
			if agent == "" {
				agent = fmt.Sprintf("Mozilla/5.0 (Visitor %d)", max(0, i%6-1))
			}
			visit(10_000+i, agent, "/blame/x")
		}
		if s.isOn() != tt.want {
			t.Errorf("%s: %t", name, !tt.want)
		}
	}
}

// A cohort whose passes are used once is named at the end of an era; one whose passes come back,
// or that is too small, is not.
func TestCohortsWhosePassesAreUsedOnce(t *testing.T) {
	c := new(cohorts)
	for i, n := range []int32{leastUsed, leastUsed, leastUsed - 1} {
		cell := &c.cells[i]
		cell.counts(fmt.Sprint("agent ", i))
		cell.passes.Store(n)
	}
	c.cells[1].back.Store(leastUsed / 10)
	c.cells[7].elsewhere.Store(400)
	c.cells[0].elsewhere.Store(2)
	c.era.Store(10)
	if c.look(10*era+1, 60); len(c.Once()) != 0 {
		t.Errorf("too early: %+v", c.Once())
	}
	c.look(11*era, 60)
	want := Cohort{UserAgent: "agent 0", Passes: leastUsed, Elsewhere: 4}
	if got := c.Once(); len(got) != 1 || got[0] != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if c.look(12*era, 60); len(c.Once()) != 0 {
		t.Errorf("an era later: %+v", c.Once())
	}
}

// Caddy's lines refuse a cohort only where few others have its User-Agent, and where it can
// be written between quotes.
func TestRefusal(t *testing.T) {
	blame := &Challenge{Paths: []string{"/blame/*", "/search"}}
	for _, tt := range []struct {
		challenge *Challenge
		cohort    Cohort
		want      string
	}{
		{blame, Cohort{UserAgent: "Fleet/1.0 (x)", Elsewhere: 9},
			"@fleet `header({'User-Agent': 'Fleet/1.0 (x)'}) && path('/blame/*', '/search*')`\nrespond @fleet 403"},
		{&Challenge{Disallowed: true}, Cohort{UserAgent: "Fleet"}, "@fleet `header({'User-Agent': 'Fleet'}) && robots('disallowed')`\nrespond @fleet 403"},
		{blame, Cohort{UserAgent: "Fleet", Elsewhere: 10}, ""},
		{blame, Cohort{UserAgent: "Fleet", Elsewhere: -1}, ""},
		{blame, Cohort{UserAgent: "a' || true || '{env.HOME}`\n"}, ""},
		{blame, Cohort{UserAgent: "Mozilla*"}, ""},
		{&Challenge{Paths: []string{"/*?sort="}}, Cohort{UserAgent: "Fleet"}, ""},
	} {
		if got := tt.challenge.refusal(&tt.cohort); got != tt.want {
			t.Errorf("%+v: %s", tt.cohort, got)
		}
	}
}
