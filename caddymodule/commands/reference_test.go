package commands_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/test/commandline"
	"github.com/caddy-robots/caddy-robots/internal/test/pages"
)

// docs/commands.md has the commands and their exit statuses, and what the help of status
// says about its columns.
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
		"exit": func() string {
			rows := ""
			for _, cmd := range commands {
				if _, text, ok := strings.Cut(cmd.Long, "The exit status "); ok {
					text, _, _ = strings.Cut(text, "\n\n")
					rows += fmt.Sprintf("- `%s`: %s\n", cmd.Name(), strings.TrimPrefix(strings.TrimSuffix(pages.Cell(text), "."), "is "))
				}
			}
			return rows
		},
		"columns": func() string {
			_, help, _ := commandline.Run("", "status", "--help")
			_, columns, _ := strings.Cut(help, "Sites, Busiest")
			columns, _, _ = strings.Cut(columns, "\n\nThe address")
			return "```text\nSites, Busiest" + columns + "\n```"
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
