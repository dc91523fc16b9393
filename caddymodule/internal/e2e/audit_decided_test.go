package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/audit/decided"
)

// decidedConfig serves any host from its own folder, each with a robots.txt of its own, and logs.
const decidedConfig = `http://:$PORT {
	log {
		output file $DIR/access.log
	}
	robots {
		mode $MODE
	}
	root $DIR/{host}
	file_server
}`

// The command says from the log of a running server what it refused, for each host: as many
// requests as it answered with 403, by the lines of that host's file. The tag of the version
// is that of the file.
func TestAuditSaysWhatWasRefused(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"enforce", "monitor"} {
		s := &server{t: t, dir: t.TempDir(), host: "localhost", port: freePort(t), admin: freePort(t)}
		files := map[string]string{"a.test": "User-agent: *\nDisallow: /private/\n", "b.test": "# B\nUser-agent: *\nAllow: /\n\nUser-agent: FooBot\nDisallow: /x\n"}
		for host, text := range files {
			if err := os.MkdirAll(filepath.Join(s.dir, host), 0o700); err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(s.dir, host, "robots.txt"), text)
		}
		s = s.run(strings.ReplaceAll(decidedConfig, "$MODE", mode))
		const foobot = "FooBot/1.0 (+https://foo.example)"
		refused := map[string]int64{}
		requests := 0
		for _, r := range [][3]string{
			{"a.test", gptbot, "/robots.txt"}, {"a.test", gptbot, "/private/x?q=secret"}, {"a.test", gptbot, "/private/y"}, {"a.test", gptbot, "/page"},
			{"a.test", chrome, "/private/x"}, {"b.test", foobot, "/xyz"}, {"b.test", foobot, "/robots.txt"}, {"b.test", foobot, "/xyz?q=secret"}, {"b.test", gptbot, "/xyz"},
		} {
			requests++
			if s.at(r[0], r[1], r[2]).status == 403 {
				refused[r[0]]++
			}
		}
		if want := map[string]string{"enforce": "map[a.test:2 b.test:2]", "monitor": "map[]"}[mode]; fmt.Sprint(refused) != want {
			t.Fatalf("%s: %v, want %s", mode, refused, want)
		}
		log := filepath.Join(s.dir, "access.log")
		s.eventually("a log of all requests", func() bool {
			text, _ := os.ReadFile(log)
			return bytes.Count(text, []byte("\n")) >= requests
		})
		for host, line := range map[string]string{"a.test": "2 Disallow: /private/ GPTBot", "b.test": "6 Disallow: /x FooBot"} {
			out, err := exec.Command(binary, "robots", "audit", "--decided", "--json", "--robots", filepath.Join(s.dir, host, "robots.txt"), "--host", host, log).Output()
			if err != nil {
				t.Fatal(err)
			}
			r := new(decided.Refusals)
			if err := json.Unmarshal(out, r); err != nil {
				t.Fatal(err)
			}
			if r.Refused != refused[host] || r.Refused+r.WouldRefuse != 2 || len(r.Rows) != 1 || r.Rows[0].Host != host || r.Rows[0].Requests != 2 {
				t.Fatalf("%s, %s: %s", mode, host, out)
			}
			if row := r.Rows[0]; fmt.Sprint(row.Line, " ", row.Rule, " ", row.Crawler) != line || row.Version != r.Sources[0].Tag {
				t.Errorf("%s, %s: %+v, version %s", mode, host, row, r.Sources[0].Tag)
			}
		}
		cmd := exec.Command(binary, "robots", "audit", "--decided", "--requests", "foobot", log)
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Count(string(out), "\n") != 2 || !strings.Contains(string(out), "127.0.0.1") ||
			!strings.Contains(string(out), "b.test/xyz?q=…") || !strings.Contains(string(out), "line 6 of robots.txt: Disallow: /x") {
			t.Errorf("%s: %v: %s", mode, err, out)
		}
	}
}
