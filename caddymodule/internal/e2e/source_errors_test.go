package e2e_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// The error of a missing source file has the Caddyfile's line. The log says nothing of what
// crawlers might fetch, because the configuration is not loaded.
func TestMissingSourceFile(t *testing.T) {
	t.Parallel()
	for _, options := range []string{"source file $FILE", "mode monitor\n\n\t\tsource file $FILE\n\t\ton_error deny"} {
		missing := filepath.Join(t.TempDir(), "none.txt")
		config := "{\n\tadmin off\n}\nhttp://shop.test:1 {\n\trobots {\n\t\t" + strings.ReplaceAll(options, "$FILE", missing) + "\n\t}\n\trespond page\n}\n"
		before, _, _ := strings.Cut(config, "source file")
		want := fmt.Sprintf("Caddyfile:%d: source file: there is no file %s", strings.Count(before, "\n")+1, missing)
		for _, verb := range []string{"validate", "run"} {
			out, problems, _, err := command(t, config, verb)
			if err == nil || !strings.Contains(out+problems, want) || strings.Contains(out+problems, "crawlers may fetch") {
				t.Errorf("%s: %v, want %q\n%s%s", verb, err, want, out, problems)
			}
		}
	}
}

// What the linter finds in the text of source inline has the place of its line in the
// Caddyfile, in the log and in the admin API.
func TestFindingsOfInlineTextHaveTheCaddyfilesLine(t *testing.T) {
	t.Parallel()
	s := start(t, "http://shop.test:$PORT {\n\trobots {\n\t\tsource inline <<TXT\n\t\t\tUser-agent: GPTBot\n\n\t\t\tDisallow: private/\n\n\t\t\tUser-agent: Google-Extended\n\t\t\tDisallow: /\n\t\t\tTXT\n\t}\n\trespond page\n}\n")
	for message, text := range map[string]string{
		"robots.txt has a mistake": "Disallow: private/", "robots.txt has a group that no server can enforce": "User-agent: Google-Extended",
	} {
		s.eventually(message, func() bool { return len(s.lines(message)) > 0 })
		if line := s.lines(message)[0]; line["file"] != "Caddyfile" || line["line"] != float64(s.lineOf(text)) || line["column"] != nil {
			t.Errorf("want line %d: %v", s.lineOf(text), line)
		}
	}
	found := false
	for _, f := range adminValue[statusapi.Origins](s, "origins?text=1").Origins[0].Findings {
		if f.Code == "missing-slash" {
			if found = true; f.Line != 3 || f.File != "Caddyfile" || f.At != s.lineOf("Disallow: private/") {
				t.Errorf("%+v", f)
			}
		}
	}
	if !found {
		t.Error("the mistake is not found")
	}
}
