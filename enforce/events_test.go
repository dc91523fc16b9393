package enforce

import (
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

func TestRecent(t *testing.T) {
	r, now := newEvents(1), fake.NewClock().Now() // all in one set
	if r.seen(1, now, time.Hour) {
		t.Error("an empty Recent has an event")
	}
	r.mark(1<<40|1, now)
	for _, tt := range []struct {
		key  uint64
		at   time.Duration
		want bool
	}{
		{1<<40 | 1, 0, true}, {1<<40 | 1, 59 * time.Minute, true}, {1<<40 | 1, 2 * time.Hour, false},
		{1<<41 | 1, 0, false}, {1<<40 | 1, -time.Hour, false},
	} {
		if got := r.seen(tt.key, now.Add(tt.at), time.Hour); got != tt.want {
			t.Errorf("key %x after %v: %v", tt.key, tt.at, got)
		}
	}
	// If a set is full, the oldest event is forgotten.
	for i := range uint64(8) {
		r.mark(i<<40|2, now.Add(time.Duration(i)*10*time.Minute))
	}
	later := now.Add(time.Hour)
	if r.seen(2, later, 24*time.Hour) || !r.seen(7<<40|2, later.Add(time.Hour), 24*time.Hour) {
		t.Error("a newer event was forgotten instead of the oldest")
	}
}
