//go:build !race

package caddymodule

import (
	"testing"

	"github.com/caddyserver/caddy/v2"
)

// A match allocates nothing where no robots handler has decided. (With the race detector,
// sync.Pool drops some of its elements.)
func TestMatcherAllocatesNothing(t *testing.T) {
	m := &MatchRobots{Crawler: []string{"GPTBot"}}
	if err := m.Provision(caddy.Context{Context: t.Context()}); err != nil {
		t.Fatal(err)
	}
	for agent, want := range map[string]bool{chrome: false, gptbot: true} {
		r := request(agent, "/")
		if n := testing.AllocsPerRun(100, func() { _, _ = m.MatchWithError(r) }); n > 0 {
			t.Errorf("%s: %v allocations", agent, n)
		}
		if got, err := m.MatchWithError(r); got != want || err != nil {
			t.Errorf("%s: %t, %v", agent, got, err)
		}
	}
}
