// Package throttle enforces the Crawl-delay, Request-rate and Visit-time lines
// of a robots.txt group. For each request it decides whether the request may go
// on now and, if not, when the client may repeat it.
//
// A budget records how much of its rate limits one crawler, or one client, has
// used. The package depends neither on HTTP nor on crawlers or groups. The
// caller supplies the Limits, which are the compiled lines of a group, and the
// Key, which identifies the budget.
//
//	var clock throttle.Clock // one for all requests
//	memory := throttle.NewMemory(100_000)
//	limits := throttle.Compile(throttle.Grant{Delay: delay, Visits: visits})
//	key := throttle.KeyOf(hash1, hash2) // of the origin and the crawler
//	result := memory.Take(ctx, clock.Now(), []throttle.Use{{Key: key, Limits: limits}})
//	if !result.OK { /* 429, Retry-After: result.RetryAfter, rounded up */ }
//
// A Clock keeps crawlers from being refused because the system's clock was set
// back.
//
// Memory is the Limiter of one process. One that shares budgets with other processes has a
// Memory too, with the states that it knows.
package throttle
