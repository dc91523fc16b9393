// Package enforce decides what a crawler may do: it holds the policy that a
// site's robots.txt is, and answers for each request whether the crawler
// that sent it is let through, denied or told to come back later.
//
// It knows nothing of any web server. Requests come in as values, time comes
// in with them, and what happens beside a request (a policy read, a source
// failing) goes out through an Observer. It is not access control: whoever
// sends a browser's User-Agent is a person here.
//
//	engine, err := enforce.NewEngine(enforce.Rules{}, source, throttle.NewMemory(100_000), enforce.PoliciesConfig{})
//	var d enforce.Decision
//	engine.Decide(ctx, &enforce.Request{Target: "/private/", UserAgents: agents, Origin: origin, Time: time.Now()}, &d)
//	if d.Action == enforce.Deny {
//		// 403, because of line d.Line of the file
//	}
package enforce
