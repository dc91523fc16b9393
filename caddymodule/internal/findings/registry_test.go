package findings_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/findings"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// misspelt returns the texts of the findings misspelt-token in a file, each with
// what to write instead.
func misspelt(body []byte) (list []string) {
	for _, f := range lint.Lint(robots.Parse(body), findings.Crawlers(crawler.Builtin()), lint.WithSelect("misspelt-token")) {
		list = append(list, f.Text+": "+*f.Replacement)
	}
	return list
}

func TestMisspeltTokens(t *testing.T) {
	var body []byte
	for _, token := range []string{
		"Gptbott", "Googelbot", "Binbot", "Google-bot", "Claudbot", "PerplexitiBot",
		// Names of other robots, or names that other robots may have:
		"spbot", "npbot", "pingbot", "roverbot", "newsbot", "Snapbot", "Discobot", "Aipbot", "uptimebot",
		"Sogou spider2", "GPTBot-Preview", "Googlebots", "Applebot2", "Gozilla",
	} {
		body = append(body, "User-agent: "+token+"\nDisallow: /\n"...)
	}
	want := []string{
		"Gptbott: GPTBot", "Googelbot: Googlebot", "Binbot: bingbot", "Google-bot: Googlebot",
		"Claudbot: ClaudeBot", "PerplexitiBot: PerplexityBot",
	}
	if got := misspelt(body); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The real files that ROBOTS_CORPUS names have no token that is misspelt.
func TestMisspeltTokensOfRealFiles(t *testing.T) {
	corpus := os.Getenv("ROBOTS_CORPUS")
	if corpus == "" {
		t.Log("ROBOTS_CORPUS is not set: there are no files to read")
		return
	}
	files, err := filepath.Glob(filepath.Join(corpus, "real-robots", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", corpus, err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := misspelt(body); len(got) > 0 {
			t.Errorf("%s: %q", filepath.Base(file), got)
		}
	}
}
