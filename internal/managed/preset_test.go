package managed

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/preference"
)

// docs/policies.md has each signal, and each preference of the registry.
func TestPreferencesInTheDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, s := range preference.Signals {
		state := string(s.State)
		if s.Instead != "" {
			state += ": `" + s.Instead + "`"
		}
		fmt.Fprintf(&want, "| `%s` | `%s` | `%s` | %s | %s |\n", s.Field, s.Key, strings.Join(s.Values, "`, `"), state, s.Places)
	}
	for c := range crawler.Builtin().All() {
		if c.ControlOnly {
			fmt.Fprintf(&want, "| `User-agent` | `%s` | `Disallow`, `Allow` | current | a group of its own |\n", first(c))
		}
	}
	if !strings.Contains(string(text), "|---|---|---|---|---|\n"+want.String()+"\n") {
		t.Errorf("docs/policies.md lacks the table\n%s", want.String())
	}
}

// docs/policies.md has each purpose in the registry, examples of it, and the
// presets that deny it.
func TestPurposesInTheDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n## Purposes\n")
	table, _, _ = strings.Cut(table, "\n## ")
	if !strings.Contains(table, "| examples | `no-training` | `no-ai` |\n") {
		t.Fatal("the table has other columns")
	}
	purposes := make(map[string][]crawler.Purpose) // by the crawler's name
	missing := make(map[crawler.Purpose]bool)
	for c := range crawler.Builtin().All() {
		purposes[c.Name] = c.Purposes
		for _, p := range c.Purposes {
			missing[p] = true
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| [^|]+ \\| ([^|]+) \\|(.*)\\|(.*)\\|$").FindAllStringSubmatch(table, -1) {
		purpose := crawler.Purpose(row[1])
		if !missing[purpose] {
			t.Errorf("%s: the registry has no crawler of this purpose, or the table has it twice", purpose)
		}
		delete(missing, purpose)
		for name := range strings.SplitSeq(row[2], ", ") {
			if !slices.Contains(purposes[name], purpose) {
				t.Errorf("%s: the purposes of %s are %q", purpose, name, purposes[name])
			}
		}
		for i, name := range []string{"no-training", "no-ai"} {
			want := ""
			if slices.Contains(presets[name].deny, purpose) {
				want = "denied"
			}
			if got := strings.TrimSpace(row[3+i]); got != want {
				t.Errorf("%s, %s: the table has %q, want %q", purpose, name, got, want)
			}
		}
	}
	for purpose := range missing {
		t.Errorf("the table has no row for %s", purpose)
	}
}
