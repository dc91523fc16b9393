// Package federation knows the requests with which servers of the Fediverse fetch each
// other's actors and posts (ActivityPub), and lets only such documents through.
//
//	if federation.Asks(r) {
//		w := federation.NewWriter(w, mayHavePage)
//		refused, err := w.Serve(r, next)
//	}
//
// It checks no signature: whose key it is only the site's own software knows.
package federation
