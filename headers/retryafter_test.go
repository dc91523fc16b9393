package headers

import (
	"testing"
	"time"
)

// RFC 9110, section 10.2.3: Retry-After is a number of whole seconds.
func TestRetryAfter(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour: "1", 0: "1", 1: "1", time.Second: "1", time.Second + 1: "2", 90 * time.Second: "90", 1500 * time.Millisecond: "2",
		1<<63 - 1: "9223372037",
	} {
		if got := RetryAfter(d); got != want {
			t.Errorf("RetryAfter(%v) = %q, want %q", d, got, want)
		}
	}
}
