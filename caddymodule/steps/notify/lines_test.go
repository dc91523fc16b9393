package notify_test

import (
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	_ "github.com/caddy-robots/caddy-robots/caddymodule/steps/notify"
)

// Errors of the line notify have its place, and no secrets.
func TestNotifyErrors(t *testing.T) {
	for text, want := range map[string]string{
		"notify":                           "notify needs at least one value, at Testfile:2",
		"notify \"\"":                      "notify: a value is empty, at Testfile:2",
		"notify T0ken":                     "notify: this is no URL of a service",
		"notify ntfy://T0ken@ntfy.sh/":     "notify: topic is required, at Testfile:2",
		"notify {env.X} T0ken://T0ken/":    "notify: the URL begins with no known service: want https or one of bark, discord",
		"mode monitor\nnotify https:T0ken": "at Testfile:3",
	} {
		_, err := config.ParseGlobal(caddyfile.NewTestDispenser("robots {\n" + text + "\n}"))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "T0ken") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := config.Parse(caddyfile.NewTestDispenser("robots {\nnotify ntfy://ntfy.sh/topic\n}"), nil); err == nil || !strings.Contains(err.Error(), "write it in the global option robots") {
		t.Errorf("in a site: %v", err)
	}
}
