package metrics

import (
	"testing"
	"time"
)

func TestPerMinute(t *testing.T) {
	var p perMinute
	at := func(after time.Duration) time.Time { return time.Unix(1_700_000_040, 0).Add(after) }
	for range 3 {
		p.add(at(0))
	}
	for _, tt := range []struct {
		after time.Duration
		want  int
	}{{0, 0}, {time.Minute, 3}, {119 * time.Second, 3}} {
		if got := p.before(at(tt.after)); got != tt.want {
			t.Errorf("after %v: %d, want %d", tt.after, got, tt.want)
		}
	}
	p.add(at(90 * time.Second))
	if got := p.before(at(2 * time.Minute)); got != 1 {
		t.Errorf("after two minutes: %d, want 1", got)
	}
	if got := p.before(at(4 * time.Minute)); got != 0 {
		t.Errorf("after a pause: %d, want 0", got)
	}
}
