package standard_test

import (
	"slices"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
)

// With one of these, a site that has no robots.txt may have none on purpose.
func TestStepsThatEnforce(t *testing.T) {
	var got []string
	for _, name := range step.Names(false) {
		if step.New(name).Info().Enforces {
			got = append(got, name)
		}
	}
	slices.Sort(got)
	if want := []string{"challenge", "limit", "policy", "shed"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// This program has each line that is proposed against a flood, a storm and forged names, so that
// there is something to copy.
func TestProposedLines(t *testing.T) {
	for _, name := range []string{"limit", "policy", "challenge", "verify", "exempt", "http_clients", "programs"} {
		if !config.HasLine(name) {
			t.Errorf("there is no line %s", name)
		}
	}
}
