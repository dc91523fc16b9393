package commands_test

import (
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/test/commandline"
)

// Control characters in User-Agents are escaped, and a User-Agent is one line.
func TestIdentifyEscapesControlCharacters(t *testing.T) {
	status, got, _ := commandline.Run("", "identify", "Evil\x1b[2JBot/1.0\n    person: nobody")
	if status != 0 || strings.ContainsAny(got, "\x1b") || strings.Contains(got, "\n    person") || !strings.Contains(got, `\x1b[2J`) {
		t.Errorf("exit status %d: %q", status, got)
	}
}
