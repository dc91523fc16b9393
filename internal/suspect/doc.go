// Package suspect finds clients that behave like robots and send the User-Agent
// of a browser.
//
// A Watch gets the requests that have a browser's User-Agent. It raises a Signal
// when it sees something that robots do and that people do not do with that
// browser. A visitor becomes a suspect when it raised two independent signals
// within 24 hours, and at least one of them is strong. The three trap signals
// count as one; all other signals are independent. The comment on each Signal says
// what raises it, and which people could raise it by accident.
//
// A visitor is a client address (IPv4, or IPv6 /64) together with a complete
// User-Agent, at one site (see Watch). A suspect does not affect visitors with
// another User-Agent at its address. A document is a page that the user asked for.
// An embedded file is a file that a page of the site loads: an image, a style, a
// script, a font, a sound or a video. A trap is a path that robots.txt disallows to
// every crawler and that people see no link to. A URL below it can be minted: made
// by Trap.Mint for one client address.
//
// A page of another site cannot make its readers suspects. Only requests over HTTPS
// count, and only those with the User-Agent of a browser version that always sends
// Fetch Metadata (Sec-Fetch-Site, -Mode and -Dest). These fields show whether the
// user of the browser asked for a page, or whether a page of another site caused the
// request with an image, a link, a form, a frame or a prefetch. A request with
// these three fields raises a signal only if the user or a page of the same site
// asked for the page. Whether a request that lacks at least one of them is for a
// document or an embedded file, Kinds says by its path. It is neither if it has a
// Sec-Fetch-Site that is neither same-origin nor none.
//
// Requests with a Cookie are not watched. The caller should leave out requests with
// an Authorization field too.
//
// The package depends on no web server and writes no log. It does not use TLS or
// HTTP/2 fingerprints: it cannot find a robot that sends what a browser sends,
// keeps cookies, and reads as slowly as a person.
//
//	watch := suspect.NewWatch(suspect.Config{})
//	request := suspect.Request{Site: "example.com", Client: addr, UserAgent: ua, Header: header, Target: "/", Secure: true, Time: now}
//	standing := watch.See(&request, suspect.DefaultFor)
//	if standing.Page { // a suspect that asks for a page
//		// apply the path rules of User-agent: *
//	}
package suspect
