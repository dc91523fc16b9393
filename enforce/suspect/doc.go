// Package suspect finds clients that behave like robots and send the User-Agent
// of a browser.
//
// A Watch gets the requests that have a browser's User-Agent. It raises a Signal
// when it sees something that robots do and that people do not do with that
// browser. A client becomes a suspect when two independent signals were raised
// within 24 hours, and at least one of them is strong. The comment on each Signal
// says what raises it, and which people could raise it by accident.
//
// Nobody can make another person a suspect. Only requests over HTTPS count, and
// only those with the User-Agent of a browser version that always sends Fetch
// Metadata (the Sec-Fetch-* fields). These fields show whether the user of the
// browser asked for a page, or whether a page of another site caused the request
// with an image, a link, a form, a frame or a prefetch. Only what the user asked
// for raises signals. Requests with a Cookie are not watched.
//
// The package depends on no web server and writes no log. It does not use TLS or
// HTTP/2 fingerprints: it cannot find a robot that sends what a browser sends,
// keeps cookies, and reads as slowly as a person.
//
//	watch := suspect.NewWatch(suspect.Config{})
//	request := suspect.Request{Site: "example.com", Client: addr, UserAgent: ua, Header: header, Target: "/", Secure: true, Time: now}
//	standing := watch.See(&request, suspect.DefaultFor)
//	if standing.Suspect {
//		// apply the path rules of User-agent: *
//	}
package suspect
