// Package enforce decides what a crawler may do. It reads a site's robots.txt,
// keeps its rules as a policy, and decides for each request whether to let it
// through, deny it, or tell the crawler to come back later.
//
// It depends on no web server. A Request carries everything that a decision
// needs, its time included. What happens in the background, such as a read of a
// robots.txt, is reported to an Observer. It is not access control: a client
// that sends a browser's User-Agent is treated as a person.
//
//	engine, err := enforce.NewEngine(enforce.Rules{}, source, throttle.NewMemory(100_000), enforce.PoliciesConfig{})
//	var d enforce.Decision
//	engine.Decide(ctx, &enforce.Request{Target: "/private/", UserAgents: agents, Origin: origin, Time: time.Now()}, &d)
//	if d.Action == enforce.Deny {
//		// 403, because of line d.Line of the file
//	}
package enforce
