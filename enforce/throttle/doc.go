// Package throttle holds crawlers to the Crawl-delay, Request-rate and
// Visit-time lines of a robots.txt group. It answers one question: may this
// request go on now, and if not, when does whoever comes back get through?
//
// It does not know which crawler sent a request, which group binds it, or
// what HTTP is; its caller finds the Terms and the Key of a request.
//
//	memory := throttle.NewMemory(100_000)
//	terms := throttle.Compile(throttle.Grant{Delay: delay, Visits: visits}, throttle.Options{})
//	key := throttle.NewKey("https://example.com:443", "gptbot")
//	result := memory.Take(ctx, time.Now(), key, terms, 0)
//	if !result.OK { /* 429, Retry-After: result.RetryAfter, rounded up */ }
//
// Two engines are the same Limiter: Memory, for one process, and Fleet, which
// shares budgets through Redis or Valkey. Waiters holds requests back until
// their place instead of refusing them.
package throttle
