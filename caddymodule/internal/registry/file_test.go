package registry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/localfile"
)

// Reading the file again without a change has no effect. Other files in its
// folder, such as a log, may change all the time and cause such reads.
func TestFileIsReplacedOnlyByOtherContent(t *testing.T) {
	file := File{Path: filepath.Join(t.TempDir(), "crawlers.jsonl"), Add: none}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file.Path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"name": "OneThing"}`)
	if _, err := file.Read(); err != nil {
		t.Fatal(err)
	}
	reread := func(what string, changed bool, want string) {
		t.Helper()
		registry, err := file.reread()
		if (registry != nil) != changed || (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: a new registry %v, error %v", what, registry != nil, err)
		}
	}
	reread("the same octets", false, "")
	write("{")
	reread("a broken file", false, "line 1")
	reread("the same broken file", false, "")
	os.Remove(file.Path)
	reread("no file", false, "no such file")
	reread("still no file", false, "")
	write("{")
	reread("the broken file again", false, "")
	write(`{"name": "OtherThing"}`)
	reread("a good file", true, "")
	write(strings.Repeat("#", localfile.MaxSize+1))
	reread("a huge file", false, "larger than 16 MiB")
}
