//go:build !race

package caddymodule

import (
	"net/http"
	"testing"

	"github.com/caddyserver/caddy/v2"
)

// A request that is counted allocates nothing more. (With the race detector, sync.Pool drops
// some of its elements.)
func TestShedAllocatesNothing(t *testing.T) {
	count := func(h *Handler) float64 {
		r, w := request(chrome, "/"), discard{make(http.Header)}
		return testing.AllocsPerRun(1000, func() { _ = h.ServeHTTP(w, r, page) })
	}
	without := count(loadedHandler(t, nil))
	if with := count(loadedHandler(t, shedding(64))); with > without {
		t.Errorf("%v allocations, and %v without shed", with, without)
	}
}

// Nor does a match where no robots handler has decided.
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
