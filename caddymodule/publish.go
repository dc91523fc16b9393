package caddymodule

import (
	"bytes"
	"errors"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/enforce"
)

var (
	errNoSource = errors.New("the source of robots.txt can't be read")
	errNoRobots = errors.New("the source has no robots.txt")
)

// publishes reports whether the handler itself answers a request for
// /robots.txt: if publish is on, or if a managed policy is merged into the file.
func (h *Handler) publishes(x *exchange, current *running) bool {
	return !current.monitor && (config.On(h.Publish) || x.Rules.Published()) && enforce.IsRobotsTxt(x.Target) &&
		(x.Method == http.MethodGet || x.Method == http.MethodHead)
}

// publish answers a request for /robots.txt with the file that is enforced.
func (h *Handler) publish(w http.ResponseWriter, r *http.Request, policy *enforce.Rules) error {
	switch policy.Outcome() {
	case enforce.Loaded:
	case enforce.Missing, enforce.NotRobots:
		if policy.Published() {
			break // the file consists of the managed policy alone
		}
		return caddyhttp.Error(http.StatusNotFound, errNoRobots)
	default:
		return caddyhttp.Error(http.StatusServiceUnavailable, errNoSource)
	}
	header := w.Header()
	header["Content-Type"] = textPlain
	header.Set("Etag", policy.ETag())
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(policy.Text()))
	return nil
}
