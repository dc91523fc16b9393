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
