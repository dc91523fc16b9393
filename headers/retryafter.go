package headers

import (
	"strconv"
	"time"
)

// RetryAfter returns the value of a Retry-After field for a client that should
// wait for d: a number of whole seconds (RFC 9110, section 10.2.3), at least 1.
// It rounds up, so that the client does not come back too early.
func RetryAfter(d time.Duration) string {
	seconds := int64(d / time.Second)
	if d%time.Second > 0 {
		seconds++
	}
	return strconv.FormatInt(max(1, seconds), 10)
}
