package caddymodule

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
)

// The Caddyfile rejects these values earlier, with the line.
func TestInvalidApp(t *testing.T) {
	for _, tt := range []struct{ config, want string }{
		{`{"max_memory": -1}`, "max_memory"},
		{`{"defaults": {"mode": "sometimes"}}`, "mode"},
	} {
		a := new(App)
		if err := json.Unmarshal([]byte(tt.config), a); err != nil {
			t.Errorf("%s: %v", tt.config, err)
			continue
		}
		ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
		if err := a.Provision(ctx); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want an error with %q", tt.config, err, tt.want)
		}
		if err := a.Cleanup(); err != nil { // after a Provision that failed
			t.Errorf("%s: Cleanup: %v", tt.config, err)
		}
		cancel()
	}
}
