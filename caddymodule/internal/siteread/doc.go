// Package siteread reads robots.txt from the site itself: it runs GET /robots.txt
// through the server's own routes, inside the process, and so gets the same answer
// as a crawler of that origin. It sends nothing over the network, and does not
// interpret the file.
//
// The request has the Host of the client's request that caused it, but none of
// its credentials. Its client address belongs to nobody, so that no remote_ip
// matcher treats it as a local client. It appears in no access log.
//
//	source := siteread.New(ctx)
//	cause := siteread.NewCause(r, server, origin, handler, false)
//	response, err := source.Fetch(cause.Detach(), origin)
package siteread
