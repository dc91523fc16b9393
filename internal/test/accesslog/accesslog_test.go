package accesslog

import (
	"encoding/json"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func readLines(t *testing.T, r io.Reader) []string {
	t.Helper()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// request is what each line must contain, in any format.
type request struct {
	addr, target, agent string
	at                  time.Time
}

var combined = regexp.MustCompile(`^(\S+) - - \[([^]]+)\] "GET (/\S*) HTTP/1\.1" 200 \d+ "[^"]+" "([^"]+)"$`)

func parseCombined(t *testing.T, line string) request {
	t.Helper()
	m := combined.FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("line %q is not in combined format", line)
	}
	at, err := time.Parse("02/Jan/2006:15:04:05 -0700", m[2])
	if err != nil {
		t.Fatal(err)
	}
	return request{addr: m[1], target: m[3], agent: m[4], at: at}
}

func parseCaddy(t *testing.T, line string) request {
	t.Helper()
	var entry struct {
		TS      float64
		Request struct {
			ClientIP string `json:"client_ip"`
			URI      string
			Headers  map[string][]string
		}
		Status int
	}
	if err := json.Unmarshal([]byte(line), &entry); err != nil {
		t.Fatalf("line %q: %v", line, err)
	}
	agents := entry.Request.Headers["User-Agent"]
	if len(agents) != 1 || entry.Status != 200 {
		t.Fatalf("line %q: User-Agents %q, status %d", line, agents, entry.Status)
	}
	return request{entry.Request.ClientIP, entry.Request.URI, agents[0], time.UnixMicro(int64(entry.TS * 1e6))}
}

func TestLogLines(t *testing.T) {
	for format, parse := range map[string]func(*testing.T, string) request{"combined": parseCombined, "caddy": parseCaddy} {
		t.Run(format, func(t *testing.T) {
			const lines, addresses = 2000, 50
			list := readLines(t, New(format, lines, addresses))
			if len(list) != lines {
				t.Fatalf("%d lines, want %d", len(list), lines)
			}
			seen, browsers := map[string]bool{}, 0
			var last time.Time
			for _, line := range list {
				r := parse(t, line)
				if r.at.Before(last) {
					t.Fatalf("line %q is before %v, the time of the line above it", line, last)
				}
				last = r.at
				seen[r.addr] = true
				if strings.Contains(r.agent, "Windows NT") {
					browsers++
				} else if !slices.Contains(agents, r.agent) {
					t.Fatalf("unexpected User-Agent %q", r.agent)
				}
			}
			if len(seen) != addresses {
				t.Errorf("%d client addresses, want %d", len(seen), addresses)
			}
			if browsers < lines*7/10 || browsers > lines*8/10 {
				t.Errorf("%d of %d requests are from browsers, want about three of four", browsers, lines)
			}
		})
	}
}

// The content does not depend on how it is read, and is the same each time.
func TestLogIsReproducible(t *testing.T) {
	want := readLines(t, New("caddy", 30, 5))
	if got := readLines(t, iotest.OneByteReader(New("caddy", 30, 5))); !slices.Equal(got, want) {
		t.Error("reading single octets gives another log")
	}
}

func TestLogWithoutLines(t *testing.T) {
	if n, err := New("combined", 0, 1).Read(make([]byte, 10)); n != 0 || err != io.EOF {
		t.Errorf("Read = %d, %v, want 0, EOF", n, err)
	}
}

func TestUnknownFormatPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New does not panic")
		}
	}()
	New("common", 1, 1)
}
