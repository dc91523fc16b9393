package grace_test

import (
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	_ "github.com/caddy-robots/caddy-robots/caddymodule/steps/grace"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// Search engines have a grace period without a line. A site's line replaces that of the
// global option, and errors name the line.
func TestGrace(t *testing.T) {
	for _, tt := range []struct {
		global, site string
		want         judge.Grace
		err          string
	}{
		{"", "", judge.GraceSearch, ""},
		{"", "grace search", judge.GraceSearch, ""},
		{"", "grace all", judge.GraceAll, ""},
		{"", "grace off", judge.GraceOff, ""},
		{"grace all", "", judge.GraceAll, ""},
		{"grace all", "grace search", judge.GraceSearch, ""},
		{"grace all", "grace off", judge.GraceOff, ""},
		{"", "grace", 0, "grace takes one value, not 0, at Testfile:2"},
		{"", "grace search all", 0, "grace takes one value, not 2, at Testfile:2"},
		{"", "grace some", 0, `grace "some" is not allowed: write off, search or all, at Testfile:2`},
		{"", "grace off\ngrace all", 0, "grace is given twice, at Testfile:3"},
	} {
		global, err := config.Parse(caddyfile.NewTestDispenser("robots {\n"+tt.global+"\n}"), nil)
		if err != nil {
			t.Fatal(err)
		}
		site, err := config.Parse(caddyfile.NewTestDispenser("robots {\n"+tt.site+"\n}"), &global)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: %v, want %s", tt.site, err, tt.err)
			}
			continue
		}
		site.AddDefaults(&global)
		settings, settingsErr := site.EngineSettings()
		if err != nil || settingsErr != nil || settings.Grace != tt.want {
			t.Errorf("%q, %q: %v, %v, %v; want %v", tt.global, tt.site, settings.Grace, err, settingsErr, tt.want)
		}
	}
}
