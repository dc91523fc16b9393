package caddymodule

import (
	"io"
	"net/http"

	"github.com/caddyserver/caddy/v2"
)

// authUser is the placeholder that Caddy's authentication handlers set.
const authUser = "http.auth.user.id"

// forbidden is the body of the 403 answer.
const forbidden = `403: this dashboard is closed, because Caddy did not authenticate the request.

Put basic_auth, or another authentication that sets {http.auth.user.id}, before
robots_dashboard, or require client certificates. If forward_auth, a private
network or the like protects the page, write

	robots_dashboard {
		access external
	}
`

// allows reports whether a request may see the dashboard: Caddy authenticated
// it, or the operator configured external access control.
func (b *Dashboard) allows(r *http.Request) bool {
	if b.Access == accessExternal {
		return true
	}
	if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		return true
	}
	repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if !ok {
		return false
	}
	user, known := repl.GetString(authUser)
	return known && user != ""
}

// forbid answers a request that may not see the dashboard.
func forbid(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusForbidden)
	if r.Method != http.MethodHead {
		_, _ = io.WriteString(w, forbidden) // the client may be gone
	}
	return nil
}
