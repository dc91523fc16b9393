package caddymodule

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/enforce"
)

var (
	errNoSource = errors.New("the source of robots.txt can't be read")
	errNoRobots = errors.New("the source has no robots.txt")
)

// publish serves the robots.txt that is enforced.
func (h *Handler) publish(w http.ResponseWriter, r *http.Request) error {
	origin := enforce.NewOrigin(r.TLS != nil, r.Host)
	policy := h.running.Load().Policies().Get(r.Context(), origin, time.Now())
	if policy == nil || policy.Outcome() == enforce.Failed {
		return caddyhttp.Error(http.StatusServiceUnavailable, errNoSource)
	}
	if policy.Outcome() != enforce.Loaded {
		return caddyhttp.Error(http.StatusNotFound, errNoRobots)
	}
	w.Header()["Content-Type"] = textPlain
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(policy.File().Bytes()))
	return nil
}

// isRobotsTxt reports whether a request target, also one in absolute form, is
// that of the robots.txt.
func isRobotsTxt(target string) bool {
	path, _, _ := strings.Cut(target, "?")
	if _, rest, absolute := strings.Cut(path, "://"); absolute {
		return strings.HasSuffix(rest, "/robots.txt") && strings.Count(rest, "/") == 1
	}
	return path == "/robots.txt"
}
