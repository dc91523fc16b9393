package config

import (
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// JSON has no lines: what the parser checks with a line, CheckNames checks as well.
func TestChecksOfSettingsInJSON(t *testing.T) {
	for name, want := range map[string]string{"gptbot": "", "seo": "", "GPTBott": "did you mean GPTBot?"} {
		err := new(Settings{Mode: ModeMonitor, Enforced: []string{name}}).CheckNames(crawler.Builtin())
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("enforce %s: %v, want %q", name, err, want)
		}
	}
}
