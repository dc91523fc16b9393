// Package forwarded reads the requests with which a proxy asks whether it may let
// a client's request through: the authentication sub-requests of nginx, Traefik
// and Caddy's forward_auth. Header fields describe the client's request.
//
//	reader := forwarded.New(forwarded.XOriginal, log)
//	answer, request := reader.Read(w, r, time.Now())
//	if request == nil {
//		forwarded.Refuse(w, http.StatusForbidden) // r describes no request, and the log says so
//		return nil
//	}
//	return judge(answer, request)
//
// It judges nothing: the caller does so as if the client had sent the request.
//
// Envoy asks with the client's own request line, so that there is nothing to read. Checks
// finds out what such questions lack.
package forwarded
