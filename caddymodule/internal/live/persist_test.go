package live

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// A file with three denied requests.
const example = "testdata/persist.json"

// inProcess returns what a process has, with a file of persist, a minute after
// the example was written. Each has its own locks, like a process.
func inProcess(t *testing.T, path string) (*Counters, *observer.ObservedLogs) {
	t.Helper()
	core, logs := observer.New(zap.InfoLevel)
	c := newCounters(func() time.Time { return time.Date(2026, 11, 24, 14, 17, 40, 0, time.UTC) })
	c.Start(path, zap.New(core))
	t.Cleanup(func() { c.Close() })
	return c, logs
}

// messages returns the messages of the log, each once.
func messages(logs *observer.ObservedLogs) (list []string) {
	for _, line := range logs.All() {
		list = append(list, line.Message)
	}
	return slices.Compact(list)
}

// denied returns how many requests were denied.
func (c *Counters) denied() uint64 {
	return c.Summary(statusapi.AllSites(), statusapi.SpanDay).Crawlers.Total.Denied
}

// problems returns the texts of the problems.
func (c *Counters) problems() (list []string) {
	_, problems := c.state()
	for _, p := range problems {
		list = append(list, p.Message)
	}
	return list
}

func readBytes(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func writeBytes(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A file that can't be read as a whole is kept, what can be read of it counts, and
// whoever asks for the state sees both at least once.
func TestFileThatCannotBeReadAsAWhole(t *testing.T) {
	whole := readBytes(t, example)
	for name, text := range map[string][]byte{
		"newer":     []byte(strings.Replace(string(whole), `"version":1,`, `"version":2,"more":[{"sites":1}],`, 1)),
		"older":     []byte(strings.Replace(string(whole), `"version":1,`, "", 1)),
		"truncated": whole[:len(whole)-300],
		"wrong":     []byte(strings.Replace(string(whole), `"self-declared"`, `"self-delcared"`, 1)),
		"a file":    []byte(strings.Replace(string(whole), `"rules":2`, `"rules":"2"`, 1)),
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			path, link := filepath.Join(folder, "robots.json"), filepath.Join(t.TempDir(), "link")
			writeBytes(t, path, text)
			writeBytes(t, path+".bad", []byte("an older one"))
			if err := os.Symlink(path, link); err != nil {
				link = path // this system has no links
			}
			c, logs := inProcess(t, link)
			if got := string(readBytes(t, path+".bad")); got != string(text) {
				t.Errorf("kept is %.80s", got)
			}
			if _, err := os.Stat(path); err == nil {
				t.Error("the file is still there")
			}
			if c.denied() < 2 {
				t.Errorf("%d denied", c.denied())
			}
			if got := messages(logs); !slices.Equal(got, []string{"persist: the file can't be read as a whole: what can be read of it counts"}) {
				t.Errorf("log: %q", got)
			}
			for range 2 {
				if got := c.problems(); len(got) != 1 || !strings.Contains(got[0], "could not be read as a whole") {
					t.Errorf("before a save: %q", got)
				}
			}
			c.SaveFile()
			if s, got := c.state(); len(got) != 1 || s.Written == nil || s.Error == "" || !strings.Contains(got[0].Advice, ".bad") {
				t.Errorf("after a save: %+v, %+v", s, got)
			}
			if s, got := c.state(); len(got) != 0 || s.Error != "" {
				t.Errorf("after a save was seen: %+v, %+v", s, got)
			}
			saved := c.denied()
			c.Close()
			if info, err := os.Lstat(link); err != nil || link != path && info.Mode()&os.ModeSymlink == 0 {
				t.Errorf("the link: %v, %v", info, err)
			}
			again, _ := inProcess(t, link)
			if got := again.problems(); got != nil || again.denied() != saved {
				t.Errorf("after a restart: %q, %d denied, want %d", got, again.denied(), saved)
			}
			if list, _ := os.ReadDir(folder); len(list) != 3 { // with .bad and .lock
				t.Errorf("the folder has %v", list)
			}
		})
	}
}

// If the file can't be moved, it is not written either.
func TestFileThatCannotBeMoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "robots.json")
	writeBytes(t, path, []byte("{"))
	if err := os.MkdirAll(filepath.Join(path+".bad", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	c, _ := inProcess(t, path)
	c.SaveFile()
	if got := c.problems(); len(got) != 2 || string(readBytes(t, path)) != "{" {
		t.Errorf("%q", got)
	}
	if err := os.RemoveAll(path + ".bad"); err != nil {
		t.Fatal(err)
	}
	c.SaveFile()
	if got := c.problems(); len(got) != 1 || string(readBytes(t, path+".bad")) != "{" {
		t.Errorf("%q", got)
	}
}

// What is not a regular file is neither read nor moved nor written.
func TestPersistIsAFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "robots.json")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	c, _ := inProcess(t, path)
	c.SaveFile()
	if got := c.problems(); len(got) != 1 || !strings.Contains(got[0], "not a regular file") {
		t.Errorf("%q", got)
	}
	if list, err := os.ReadDir(filepath.Dir(path)); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}

// A file that can't be written is said when the configuration is loaded, and not at the first
// write: here, there is room for the name of the lock, but not for that of a temporary file.
func TestPersistThatCannotBeWrittenIsSaidAtLoad(t *testing.T) {
	c, logs := inProcess(t, filepath.Join(t.TempDir(), strings.Repeat("x", 250)))
	if got := messages(logs); !slices.Equal(got, []string{"persist: the file can't be used"}) {
		t.Errorf("log: %q", got)
	}
	if got := c.problems(); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// Of two processes with one file, the second writes it once the first has ended, with
// the counts of both. A reload needs no second lock.
func TestTwoProcessesWithOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "robots.json")
	writeBytes(t, path, readBytes(t, example))
	first, _ := inProcess(t, path)
	second, logs := inProcess(t, path)
	person := func(c *Counters) { c.Site("shop.test").CountPerson(0) }
	person(first)
	person(second)
	first.SaveFile()
	second.SaveFile()
	if got := second.problems(); len(got) != 1 || !strings.Contains(got[0], "another process") || second.denied() != 0 {
		t.Errorf("%q, %d denied", got, second.denied())
	}
	if got := messages(logs); !slices.Equal(got, []string{"persist: another process writes the file: this one does as soon as it is free"}) {
		t.Errorf("log: %q", got)
	}
	first.Start(path, zap.NewNop())
	other := filepath.Join(t.TempDir(), "other.json")
	first.Start(other, zap.NewNop()) // a reload that names another file
	second.SaveFile()
	if got := second.problems(); got != nil || second.denied() != 3 {
		t.Errorf("once it is free: %q, %d denied", got, second.denied())
	}
	if got := messages(logs); len(got) != 2 || got[1] != "persist: the file can be used again" {
		t.Errorf("log: %q", got)
	}
	second.Close()
	first.Start(path, zap.NewNop()) // whose counts it has already
	if got := first.problems(); got != nil || first.denied() != 3 {
		t.Errorf("the first one again: %q, %d denied", got, first.denied())
	}
	first.Close()
	if people := last(t, path).Summary(statusapi.AllSites(), statusapi.SpanDay).People.Total; people != 8 {
		t.Errorf("%d people, want those of both", people)
	}
}

// last returns the counts in a file.
func last(t *testing.T, path string) *counters.Counters {
	t.Helper()
	c, _ := inProcess(t, path)
	if got := c.problems(); got != nil {
		t.Errorf("%q", got)
	}
	return c.Counters
}

// A file system that does not answer holds up nothing for long, and health says so
// until it answers.
func TestFileSystemThatDoesNotAnswer(t *testing.T) {
	c, logs := inProcess(t, filepath.Join(t.TempDir(), "robots.json"))
	answer := make(chan struct{})
	hung := func() error { <-answer; return nil }
	c.file.use(time.Millisecond, hung)
	for range 2 {
		if got := c.problems(); len(got) != 1 || !strings.Contains(got[0], "does not answer") {
			t.Errorf("%q", got)
		}
		c.SaveFile()
	}
	close(answer)
	c.file.use(time.Minute, c.file.save)
	for errors.Is(c.file.lastError(), errHung) { // if the use before had not ended after hungLimit
		c.file.use(time.Minute, c.file.save)
	}
	if got := c.problems(); got != nil {
		t.Errorf("%q", got)
	}
	if got := messages(logs); !slices.Equal(got, []string{"persist: the file can't be used", "persist: the file can be used again"}) {
		t.Errorf("log: %q", got)
	}
}
