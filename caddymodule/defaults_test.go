package caddymodule

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// Each setting can be switched off in a handler: by a value of its own, or by off.
func TestEverySettingCanBeSwitchedOff(t *testing.T) {
	withValues := []string{
		"source", "refresh", "on_error", "max_origins", "mode", "dialect", "exempt_paths", "programs", "grace", "crawl_delay", // another value
		"crawlers", // a name that no request has changes nothing
	}
	for i := range reflect.TypeFor[Settings]().NumField() {
		name := settingName(i)
		isSwitch := reflect.TypeFor[Settings]().Field(i).Type == reflect.TypeFor[*bool]()
		if !isSwitch && !slices.Contains(withValues, name) && !slices.Contains(switchable, name) {
			t.Errorf("%s can't be switched off", name)
		}
	}
	if len(switchable) != 9 || !slices.IsSorted(switchable) {
		t.Errorf("%q", switchable)
	}
}

func TestOff(t *testing.T) {
	for _, tt := range []struct{ block, off, err string }{
		{"verify off\n policy off", "verify,policy", ""},
		{"policy no-training", "", ""},
		{"verify off\n verify off", "", "verify off is given twice"},
		{"exempt off\n exempt UptimeRobot", "", "exempt is off, and is also given"},
		{"suspects off {\n action bind\n }", "", "suspects"},
		{"crawl_delay off", "", "crawl_delay"},
	} {
		h := new(Handler)
		err := h.UnmarshalCaddyfile(caddyfile.NewTestDispenser("robots {\n " + tt.block + "\n}"))
		if tt.err == "" && (err != nil || strings.Join(h.Off, ",") != tt.off) || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%q: %q, %v; want %q, %q", tt.block, h.Off, err, tt.off, tt.err)
		}
	}
	for config, want := range map[string]string{
		`{"off": ["mode"]}`:                             `"mode" is not one of answers`,
		`{"off": ["paths"], "paths": {}}`:               "paths is off, and is also given",
		`{"off": ["fleet"], "fleet": {"url": "redis"}}`: "fleet is off",
	} {
		h := new(Handler)
		if err := json.Unmarshal([]byte(config), h); err != nil {
			t.Fatal(err)
		}
		if err := provisionError(t, h); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", config, err, want)
		}
	}
}

// The names in a site's block are checked with the crawlers of the global option.
func TestNamesAreCheckedWithTheDefaults(t *testing.T) {
	for _, tt := range []struct{ defaults, block, err string }{
		{"exempt UptimeRobot", "exempt PayHook", "Caddyfile:8"},
		{"exempt UptimeRobot", "policy {\n deny PayHook\n }", "Caddyfile:9"},
		{"crawler PayHook {\n user_agents PayHook\n }", "exempt PayHook", ""},
		{"crawler PayHook {\n user_agents PayHook\n }", "crawler Own {\n user_agents Own\n }\n exempt PayHook", "Caddyfile:13"},
		{"crawler PayHook {\n user_agents PayHook\n }\n exempt PayHook", "crawler Own {\n user_agents Own\n }", "Repeat the global crawler block"},
		{"crawler PayHook {\n user_agents PayHook\n }\n exempt PayHook", "crawler Own {\n user_agents Own\n }\n exempt off", ""},
		{"registry crawlers.jsonl", "exempt PayHook", ""},
		{"registry crawlers.jsonl", "registry off\n exempt PayHook", "Caddyfile:9"},
	} {
		config := "{\n robots {\n " + tt.defaults + "\n }\n}\n:80 {\n robots {\n " + tt.block + "\n }\n}\n"
		_, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(config), map[string]any{"filename": "Caddyfile"})
		if (err == nil) != (tt.err == "") || err != nil && !(strings.Contains(err.Error(), tt.err) && strings.Contains(err.Error(), "PayHook")) {
			t.Errorf("%q, %q: %v, want %q", tt.defaults, tt.block, err, tt.err)
		}
	}
}
