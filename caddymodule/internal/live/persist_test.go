package live

import (
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
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// inProcess returns what a process has, with a file of persist. Each has its own locks, like a
// process.
func inProcess(t *testing.T, path string) (*Counters, *observer.ObservedLogs) {
	t.Helper()
	core, logs := observer.New(zap.InfoLevel)
	c := newCounters(func() time.Time { return time.Date(2026, 11, 24, 14, 17, 40, 0, time.UTC) })
	c.Start(path, zap.New(core))
	t.Cleanup(func() { c.Close() })
	return c, logs
}

// example writes a file with three denied requests.
func example(t *testing.T, path string) {
	t.Helper()
	c, _ := inProcess(t, path)
	for range 3 {
		d := &judge.Decision{Reason: judge.Disallowed, Action: judge.Deny, Subject: judge.Subject{Agent: gptbot}}
		c.Site("shop.test").Count(d, &counters.Request{Time: time.Now(), Target: "/x"})
	}
	c.SaveFile()
	c.Close()
	inTime(t, "the lock is free", func() bool { other, _ := inProcess(t, path); defer other.Close(); return other.problems() == nil })
}

// inTime waits until something is true.
func inTime(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); {
		if time.Now().After(end) {
			t.Fatal(what + ": never")
		}
	}
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
	return c.View(statusapi.AllSites(), statusapi.SpanDay).Summary.Crawlers.Total.Denied
}

// problems returns the texts of the problems.
func (c *Counters) problems() (list []string) {
	_, problems := c.state()
	for _, p := range problems {
		list = append(list, p.Message)
	}
	return list
}

func readBytes(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A file that can't be read is kept, and health says so until the next load.
func TestFileThatCannotBeRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "robots.json")
	example(t, path)
	whole := readBytes(t, path)
	for name, text := range map[string]string{
		"newer":     strings.Replace(whole, `"version":1,`, `"version":2,"more":[{"sites":1}],`, 1),
		"older":     strings.Replace(whole, `"version":1,`, "", 1),
		"truncated": whole[:len(whole)-30],
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			path, link := filepath.Join(folder, "robots.json"), filepath.Join(t.TempDir(), "link")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(path, link); err != nil {
				link = path // this system has no links
			}
			c, logs := inProcess(t, link)
			if got := readBytes(t, path+".bad"); got != text {
				t.Errorf("kept is %.80s", got)
			}
			if got := messages(logs); !slices.Equal(got, []string{"persist: the file can't be read"}) {
				t.Errorf("log: %q", got)
			}
			if s, got := c.state(); len(got) != 1 || s.Written == nil || !strings.Contains(got[0].Message, ".bad") {
				t.Errorf("%+v, %+v", s, got)
			}
			c.Start(link, zap.NewNop())
			if got := c.problems(); got != nil {
				t.Errorf("after a load: %q", got)
			}
			if info, err := os.Lstat(link); err != nil || link != path && info.Mode()&os.ModeSymlink == 0 {
				t.Errorf("the link: %v, %v", info, err)
			}
		})
	}
}

// What is not a regular file is neither read nor moved nor written; what can't be written is said at once: here, there
// is room for the name of the lock, but not for that of a temporary file.
func TestPersistThatCannotBeUsed(t *testing.T) {
	for path, want := range map[string]string{t.TempDir(): "not a regular file", filepath.Join(t.TempDir(), strings.Repeat("x", 250)): "too long"} {
		c, logs := inProcess(t, path)
		if got := messages(logs); !slices.Equal(got, []string{"persist: the file can't be used"}) {
			t.Errorf("log: %q", got)
		}
		if got := c.problems(); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%q", got)
		}
	}
}

// Of two processes with one file, the second writes it once the first has ended, with
// the counts of both. A reload needs no second lock.
func TestTwoProcessesWithOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "robots.json")
	example(t, path)
	first, _ := inProcess(t, path)
	second, logs := inProcess(t, path)
	first.Site("shop.test").CountPerson(0)
	second.Site("shop.test").CountPerson(0)
	first.SaveFile()
	second.SaveFile()
	if got := second.problems(); len(got) != 1 || !strings.Contains(got[0], "another process") || second.denied() != 0 {
		t.Errorf("%q, %d denied", got, second.denied())
	}
	if got := messages(logs); !slices.Equal(got, []string{"persist: another process writes the file: this one does as soon as it is free"}) {
		t.Errorf("log: %q", got)
	}
	first.Start(path, zap.NewNop())
	first.Start(filepath.Join(t.TempDir(), "other.json"), zap.NewNop()) // a reload that names another file
	inTime(t, "the second one has the file", func() bool { second.SaveFile(); return second.problems() == nil })
	if second.denied() != 3 {
		t.Errorf("%d denied", second.denied())
	}
	if got := messages(logs); len(got) != 2 || got[1] != "persist: the file can be used again" {
		t.Errorf("log: %q", got)
	}
	second.Close()
	first.Start(path, zap.NewNop()) // whose counts it has already
	inTime(t, "the first one again", func() bool { first.SaveFile(); return first.problems() == nil })
	if first.denied() != 3 {
		t.Errorf("the first one again: %d denied", first.denied())
	}
	if people := first.View(statusapi.AllSites(), statusapi.SpanDay).Summary.People.Total; people != 1 {
		t.Errorf("%d people: the second has counted the others, and the first had these before", people)
	}
}
