package headers

import (
	"strconv"
	"time"
)

// RetryAfter returns the value of a Retry-After field that asks a client to
// wait for d: whole seconds (RFC 9110, section 10.2.3), rounded up so that the
// client does not come back too early, and at least 1.
func RetryAfter(d time.Duration) string {
	seconds := int64(d / time.Second)
	if d%time.Second > 0 {
		seconds++
	}
	return strconv.FormatInt(max(1, seconds), 10)
}
