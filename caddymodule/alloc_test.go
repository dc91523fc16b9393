//go:build !race

package caddymodule

import (
	"net/http"
	"testing"
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
