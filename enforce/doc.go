// Package enforce decides on requests by a site's robots.txt. It reads the
// robots.txt, compiles it to a Rules, and decides for each request of a
// crawler whether to allow it, deny it (usually with status 403), or throttle
// it (usually with status 429).
//
// It depends on no web server. A Request has everything that a decision needs,
// also its time. An Observer receives the results of background work, such as
// reading a robots.txt.
//
// It is not access control: a client that sends a browser's User-Agent is
// treated as a person, and robots.txt does not apply to people. The exceptions
// are a User-Agent with a further word that a group of robots.txt names, and a
// signature that proves a crawler (see Verification).
//
//	engine, err := enforce.NewEngine(enforce.Rules{}, source, throttle.NewMemory(100_000), enforce.Config{})
//	...
//	var d enforce.Decision
//	engine.Decide(ctx, &enforce.Request{Target: "/private/", UserAgents: agents, Origin: origin, Time: time.Now()}, &d)
//	if d.Action == enforce.Deny {
//		// status 403, because of line d.Line of the file
//	}
package enforce
