package registry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/localfile"
	"go.uber.org/zap"
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
	outcome := ""
	file.Log = Log{zap.NewNop(), func(got string) { outcome = got }}
	reread := func(what, want, problem string) {
		t.Helper()
		outcome = ""
		file.reread(func(*crawler.Registry) error { return nil })
		err, _ := file.Err()
		if outcome != want || (err == nil) != (problem == "") || err != nil && !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: %q, error %v", what, outcome, err)
		}
	}
	reread("the same octets", "", "")
	write("{")
	reread("a broken file", "failed", "line 1")
	reread("the same broken file", "", "line 1")
	os.Remove(file.Path)
	reread("no file", "failed", "no such file")
	reread("still no file", "", "no such file")
	write("{")
	reread("the broken file again", "failed", "line 1")
	write(`{"name": "OtherThing"}`)
	reread("a good file", "loaded", "")
	write(strings.Repeat("#", localfile.MaxSize+1))
	reread("a huge file", "failed", "larger than 16 MiB")
}
