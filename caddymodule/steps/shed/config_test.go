package shed_test

import (
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	_ "github.com/caddy-robots/caddy-robots/caddymodule/steps/shed"
)

// Errors in shed name the line.
func TestShedErrors(t *testing.T) {
	for text, want := range map[string]string{
		"shed":                              "shed needs in_flight: how many requests may wait before robots are refused, from 1 to 1000000, at Testfile:2",
		"shed {\n}":                         "shed needs in_flight",
		"shed {\nin_flight 9\nfirst seo\n}": `unknown subdirective "first"`,
		"shed 64":                           `shed: unexpected "64": it takes its options in a block, at Testfile:2`,
		"shed {\nin_flight 0\n}":            `in_flight: "0" is not a whole number from 1 to 1000000, at Testfile:3`,
		"shed {\nin_fligt 9\n}":             `unknown subdirective "in_fligt": did you mean in_flight?`,
	} {
		_, err := config.Parse(caddyfile.NewTestDispenser("robots {\n"+text+"\n}"), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n%v\nwant\n%s", text, err, want)
		}
	}
	s, err := config.Parse(caddyfile.NewTestDispenser("robots {\nshed {\nin_flight 64\n}\n}"), nil)
	if got := string(s.Steps["shed"]); err != nil || got != `{"in_flight":64}` || s.Places["shed"] != "Testfile:2" {
		t.Errorf("%s, %v", got, err)
	}
}
