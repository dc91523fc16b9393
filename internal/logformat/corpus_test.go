package logformat

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The parser reads single lines of Caddy 2.0 to 2.10.
func TestCorpusCaddyVersions(t *testing.T) {
	folder := os.Getenv("ROBOTS_CORPUS")
	if folder == "" {
		t.Log("ROBOTS_CORPUS is not set")
		return
	}
	f, err := os.Open(filepath.Join(folder, "logs", "caddy-versions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var row struct{ Caddy, Line string }
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		p := &jsonLog{}
		var e Entry
		pr := p.parse([]byte(row.Line), &e)
		if strings.Contains(row.Line, `"http.handlers.reverse_proxy"`) {
			if pr != NoRequest {
				t.Errorf("%s: %v: %s", row.Caddy, pr, row.Line)
			}
			continue
		}
		if pr != None || !e.Timed || e.Host == "" || !isAddress(e.Client) || len(e.UserAgents) != 1 || e.UserAgents[0] == "" || !strings.HasPrefix(e.Target, "/") {
			t.Errorf("%s: %v %+v: %s", row.Caddy, pr, e, row.Line)
		}
	}
}
