package caddymodule

import (
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
)

// errorFor returns an error with the answer's status if the site has an error
// route (handle_errors) that would answer it, otherwise nil. Error routes of
// other sites on the server, and of other statuses, do not count.
func errorFor(r *http.Request, a *answer) error {
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok || server == nil || server.Errors == nil || len(server.Errors.Routes) == 0 {
		return nil
	}
	err := caddyhttp.Error(a.status, a.err)
	// Error routes get the error and the original request.
	probe := server.Errors.WithError(r, err)
	if original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok && original.URL != nil {
		url := *original.URL
		probe.URL, probe.RequestURI = &url, original.RequestURI
	}
	if !routes.Answers(server.Errors.Routes, probe) {
		return nil
	}
	return err
}
