package live

import (
	"testing"
	"time"
)

// What has just begun has no duration: "for 1 second" would say nothing.
func TestLasting(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "", 59 * time.Second: "", time.Minute: " for 1 minute", 3 * time.Hour: " for 3 hours", 50 * time.Hour: " for 2 days",
	} {
		if got := lasting(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
