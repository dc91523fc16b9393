package caddymodule

import (
	"io"
	"net/http"

	"github.com/caddyserver/caddy/v2"
)

// authUser is the placeholder that Caddy's authentication sets.
const authUser = "http.auth.user.id"

// forbidden explains why the dashboard does not answer.
const forbidden = `403: this dashboard is not protected, so it is closed.

It opens for requests that Caddy has authenticated: put basic_auth, or another
authentication that sets {http.auth.user.id}, before robots_dashboard, or ask
for client certificates. If something protects it that Caddy does not see, such
as forward_auth or a private network, write

	robots_dashboard {
		access external
	}
`

// allows reports whether a request may see the dashboard: Caddy knows who
// sent it, or the operator said that something else does.
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
