package config

import (
	"cmp"
	"reflect"
	"slices"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// Each setting can be switched off in a handler: by a value of its own, or by off.
func TestEverySettingCanBeSwitchedOff(t *testing.T) {
	withValues := []string{
		"source", "refresh", "on_error", "max_origins", "mode", "dialect", "exempt_paths", "programs", "crawl_delay", "forwarded_request", // another value
		"crawlers", // a name that no request has changes nothing
		"places",   // of other settings
		"steps",    // by their names
		"off",
		"enforced", // belongs to the mode
	}
	for i, name := range names() {
		isSwitch := reflect.TypeFor[Settings]().Field(i).Type == reflect.TypeFor[*bool]()
		if isSwitch || slices.Contains(withValues, name) {
			continue
		}
		line := map[string]string{"answers": "answer", "hosts": "host"}[name]
		s, err := Parse(caddyfile.NewTestDispenser("robots {\n "+cmp.Or(line, name)+" off\n}"), nil)
		if err != nil || !slices.Equal(s.Off, []string{name}) {
			t.Errorf("%s can't be switched off: %v", name, err)
		}
	}
}
