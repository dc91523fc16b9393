// Package suspect notices clients that behave like robots and send a browser's
// User-Agent.
//
// A Watch looks at the requests that say they are a person's. It counts what
// people with that browser do not do, and calls a client a suspect once two
// independent signals were seen within 24 hours, at least one of them a strong
// one. Each Signal says what it sees, what breaks it, and how often it was
// raised in sessions of people.
//
// It is built so that nobody can make another person a suspect. Only requests
// over HTTPS count, and only those with the User-Agent of a browser and version
// that always tells the server where a request comes from (Fetch Metadata, the
// Sec-Fetch-* fields). Then what another site's page has a browser do, by an
// image, a link, a form, a frame or a prefetch, can be told from what its user
// does, and does not count. Requests with a Cookie are never looked at.
//
// It knows nothing of any web server, writes no log, and sees no fingerprints
// of TLS or HTTP/2: a robot that sends what a browser sends, keeps cookies and
// reads as slowly as a person is not found.
//
//	watch := suspect.NewWatch(suspect.Config{})
//	standing := watch.See(&suspect.Request{Site: "example.com", Client: addr, UserAgent: ua, Header: header, Target: "/", Secure: true, Time: now})
//	if standing.Suspect {
//		// hold it to the path rules of User-agent: *
//	}
package suspect
