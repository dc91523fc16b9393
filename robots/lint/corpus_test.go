package lint

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/caddy-robots/caddy-robots/robots"
)

// The invariants of the fuzz targets are checked for real files too: the
// examples of this repository and, if ROBOTS_CORPUS names a corpus, its files.
func TestRealFiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(lintFolder, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if corpus := os.Getenv("ROBOTS_CORPUS"); corpus != "" {
		more, err := filepath.Glob(filepath.Join(corpus, "real-robots", "*.txt"))
		if err != nil || len(more) == 0 {
			t.Fatalf("no files in %s: %v", corpus, err)
		}
		files = append(files, more...)
	} else {
		t.Log("ROBOTS_CORPUS is not set: this test reads only the examples of this repository")
	}
	codes := map[string]int{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			f := robots.Parse(data)
			checkFindings(t, f)
			checkAdvice(t, f)
			for _, x := range Lint(f, WithCrawlers(crawlers)) {
				codes[x.Code]++
			}
		})
	}
	t.Logf("%d files; findings: %v", len(files), codes)
}
