// Package counters counts decisions in memory: by site and crawler, by site and
// reason, and by line of a robots.txt. It also counts the requests of people by
// site. Each count is kept for the last hour, day and month, and in total. The
// package keeps the last refusals too.
//
// Counting takes a lock and allocates memory only for the first request of a crawler
// at a site, and for the first decision of a line. All sizes are bounded.
// The counts outlive a reload of the configuration. Save and Load keep them over
// a restart.
//
//	c := counters.New(time.Now)
//	site := c.Site("example.com")
//	site.Count(&decision, &counters.Request{Time: now})
//	site.CountPerson(0)
//	view := c.View(statusapi.AllSites(), statusapi.SpanHour)
package counters
