package commands_test

import (
	"fmt"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/test/commandline"
	"github.com/caddy-robots/caddy-robots/internal/test/pages"
)

// docs/commands.md has the commands.
func TestCommandsReference(t *testing.T) {
	commands := commandline.Command().Commands()
	parts := map[string]func() string{
		"commands": func() string {
			rows := ""
			for _, cmd := range commands {
				rows += fmt.Sprintf("- `caddy robots %s`: %s\n", cmd.Name(), cmd.Short)
			}
			return rows
		},
	}
	used := make(map[string]bool)
	pages.Check(t, "../../docs/commands.md", *commandline.Update, func(words []string) string {
		used[words[0]] = true
		return parts[words[0]]()
	})
	for name := range parts {
		if !used[name] {
			t.Errorf("the page has no part %s", name)
		}
	}
}
