// Package limits bounds what crawlers request together, on some paths or at a whole site:
// what robots.txt can't say. It knows no requests but those that a caller asks about, and
// uses no budget itself.
//
//	set, err := limits.New([]limits.Limit{{Paths: []string{"/archive/*"}, All: "30/1m"}}, hosts, turns)
//	uses := set.Enter(q, r, d, nil)  // takes turns, or refuses the request
//	engine.Pace(ctx, r, d, uses)     // uses the budgets
//	q.Reset()                        // when the request has ended
package limits

import "github.com/caddy-robots/caddy-robots/enforce/judge"

// Reason is given to requests over a limit, and Layer has the lines of limits.
var (
	Reason = judge.RegisterReason(judge.ReasonInfo{
		Name: "limit", Action: judge.Throttle, Meaning: "the request exceeds a `limit` of the configuration",
		Status: 429, Text: "Crawlers request too much of this site at present.", Answer: judge.CrawlDelay.Info().Answer,
	})
	Layer = judge.RegisterLayer(judge.LayerInfo{Name: "limit", ByText: true})
)
