package e2e_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
)

// ahead is how far the clock of a server is ahead of the
// system's, in nanoseconds.
var ahead atomic.Int64

func init() {
	now := clock.Now
	clock.Now = func() time.Time { return now().Add(time.Duration(ahead.Load())) }
	caddy.RegisterModule(clockAPI{})
}

// clockAPI lets a test set the clock of a server forward: POST /test/clock?by=1m.
type clockAPI struct{}

func (clockAPI) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "admin.api.test_clock", New: func() caddy.Module { return clockAPI{} }}
}

func (clockAPI) Routes() []caddy.AdminRoute {
	return []caddy.AdminRoute{{Pattern: "/test/clock", Handler: caddy.AdminHandlerFunc(func(_ http.ResponseWriter, r *http.Request) error {
		by, err := time.ParseDuration(r.FormValue("by"))
		ahead.Add(int64(by))
		return err
	})}}
}

// pass lets time pass at a server. Timers run as before.
func (s *server) pass(d time.Duration) {
	s.t.Helper()
	url := fmt.Sprintf("http://localhost:%d/test/clock?by=%v", s.admin, d)
	s.wants(200, s.do(http.MethodPost, url, "test", "", nil), "setting the clock forward")
}
