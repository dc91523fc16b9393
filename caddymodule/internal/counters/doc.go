// Package counters counts decisions in memory: by site and crawler, by site and
// reason, by line of a robots.txt, and requests of people by site, each over the
// last hour, day and month. It keeps the last refusals too.
//
// Counting takes no lock and, but for the first request of a crawler at a site
// and the first decision of a line, allocates nothing. All sizes are bounded.
// What is counted outlives a reload of the configuration; Save and Load keep it
// over a restart.
//
//	c := counters.New(time.Now)
//	site := c.Site("example.com")
//	site.Count(&decision, counters.Request{Time: now})
//	site.CountPerson(0)
//	summary := c.Summary(status.AllSites(), status.SpanHour)
package counters
