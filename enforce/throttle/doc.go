// Package throttle holds crawlers to the Crawl-delay, Request-rate and
// Visit-time lines of a robots.txt group. It answers one question: may this
// request go on now, and if not, when may it be repeated?
//
// It does not know HTTP, crawlers or groups: its caller supplies the Terms and
// the Key of each request.
//
//	memory := throttle.NewMemory(100_000)
//	terms := throttle.Compile(throttle.Grant{Delay: delay, Visits: visits}, throttle.Options{})
//	key := throttle.NewKey("https://example.com:443", "gptbot")
//	result := memory.Take(ctx, time.Now(), key, terms, 0)
//	if !result.OK { /* 429, Retry-After: result.RetryAfter, rounded up */ }
//
// Two engines implement Limiter: Memory, for one process, and Fleet, which
// shares budgets through Redis or Valkey. Waiters holds requests until their
// time comes instead of refusing them.
package throttle
