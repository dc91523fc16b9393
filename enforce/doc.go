// Package enforce decides on requests by a site's robots.txt: for each request of a
// crawler, whether to allow it, deny it (usually with status 403), or throttle it
// (usually with status 429).
//
// An Engine joins three parts. Package origins has the rules that are in force for each
// origin. Package judge says what they allow. The engine itself paces the requests that
// are let through, and remembers what crawlers did.
//
// It depends on no web server. A request has everything that a decision needs, also its
// time. What happens beside requests, such as a fetch of a robots.txt, goes to the
// functions in origins.Config.
//
// It is not access control: a client that sends a browser's User-Agent is
// treated as a person, and robots.txt does not apply to people. The exceptions
// are a User-Agent with a further word that a group of robots.txt names, and a
// signature that proves a crawler (see judge.Verification).
//
//	engine, err := enforce.NewEngine(judge.Settings{}, source, throttle.NewMemory(100_000), nil, origins.Config{})
//	...
//	var d judge.Decision
//	engine.Decide(ctx, &judge.Request{Target: "/private/", UserAgents: agents, Origin: origin, Time: time.Now()}, &d)
//	if d.Action == judge.Deny {
//		// status 403, because of line d.Line of the file
//	}
package enforce
