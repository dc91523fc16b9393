package crawler

import (
	"flag"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/test/pages"
)

var update = flag.Bool("update", false, "write the generated parts of docs/rules.md")

// The page lists the words of words.txt that have a reason, by their last role.
func TestWordsPage(t *testing.T) {
	pages.Check(t, "../../docs/rules.md", *update, func(args []string) string {
		var b strings.Builder
		b.WriteString("| words | because such a program often |\n|---|---|\n")
		for line := range strings.Lines(wordsFile) {
			roles, list, _ := strings.Cut(line, ":")
			words, reason, ok := strings.Cut(list, "#")
			names := strings.Fields(roles)
			if !ok || len(names) == 0 || names[0] == "#" || roleOf(names) != args[0] {
				continue
			}
			b.WriteString("| " + strings.Join(strings.Fields(words), ", ") + " | " + strings.TrimSpace(reason) + " |\n")
		}
		return b.String()
	})
}

func roleOf(names []string) string {
	if names[len(names)-1] == "hook" {
		return names[0]
	}
	return names[len(names)-1]
}
