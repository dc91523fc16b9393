package e2e_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/internal/audit/evidence"
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
			r := new(evidence.Refusals)
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
		// FooBot's first request was before it had read robots.txt.
		to := filepath.Join(s.dir, "case")
		cmd := exec.Command(binary, "robots", "audit", "--evidence", "foobot", "--robots", filepath.Join(s.dir, "b.test", "robots.txt"), "--out", to, log)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		v := new(evidence.Evidence)
		if err := json.Unmarshal([]byte(readFile(t, to+".json")), v); err != nil {
			t.Fatal(err)
		}
		if v.Disallowed != 1 || v.Class != "self-declared" || len(v.Reads) != 1 || v.Requests[0].Target != "/xyz?q=…" || v.Requests[0].Port == "" ||
			len(v.RobotsTxt) != 1 || v.RobotsTxt[0].Text != files["b.test"] || !strings.HasPrefix(v.Summary, "Confirmed as FooBot's: 0 of the 1 address ") {
			t.Errorf("%s: %+v", mode, v)
		}
	}
}

// With persist, evidence has the text that a crawler read, though the file is another one since,
// and the server was restarted. The file of persist has no hidden path.
func TestEvidenceHasTheTextThatWasRead(t *testing.T) {
	t.Parallel()
	const site = `{
	robots {
		persist $DIR/robots.json
	}
}
http://:$PORT {
	log {
		output file $DIR/access.log
	}
	robots {
		policy {
			hidden /secret-path/
		}
	}
	root $DIR/{host}
	file_server
}`
	const foobot, before, after = "FooBot/1.0 (+https://foo.example)", "User-agent: FooBot\nDisallow: /before/\n", "User-agent: FooBot\nDisallow: /after/\n"
	s := &server{t: t, dir: t.TempDir(), host: "localhost", port: freePort(t), admin: freePort(t)}
	if err := os.Mkdir(filepath.Join(s.dir, "a.test"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(s.dir, "a.test", "robots.txt")
	writeFile(t, file, before)
	s = s.run(site)
	s.wants(404, s.at("a.test", gptbot, "/"), "a page") // now the version is known
	s.wants(200, s.at("a.test", foobot, "/robots.txt"), "a read of the file")
	s.wants(403, s.at("a.test", foobot, "/before/x"), "a disallowed page")
	s.wants(404, s.at("a.test", foobot, "/secret-path/x"), "a hidden page")
	adminValue[statusapi.Health](s, "health") // looks at the files in force
	writeFile(t, file, after)
	s.adminRequest(http.MethodPost, "refresh?grace=off", 200, nil)
	s.wants(403, s.at("a.test", foobot, "/after/x"), "a page that is disallowed now")
	s.end()
	s = startIn(t, s, site)
	s.end()
	persist, to := filepath.Join(s.dir, "robots.json"), filepath.Join(s.dir, "case")
	if text := readFile(t, persist); strings.Contains(text, "secret") || !strings.Contains(text, "/before/") {
		t.Errorf("the file of persist: %s", text)
	}
	cmd := exec.Command(binary, "robots", "audit", "--evidence", "foobot", "--persist", persist, "--out", to, filepath.Join(s.dir, "access.log"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	v := new(evidence.Evidence)
	if err := json.Unmarshal([]byte(readFile(t, to+".json")), v); err != nil {
		t.Fatal(err)
	}
	if len(v.Requests) != 1 || len(v.Reads) != 1 || len(v.RobotsTxt) != 1 {
		t.Fatalf("%+v", v)
	}
	was, sum := v.RobotsTxt[0], fmt.Sprintf("%x", sha256.Sum256([]byte(before)))
	if was.Text != before || was.SHA256 != sum || was.Name != persist || was.Version != v.Reads[0].Robots.Version {
		t.Errorf("%+v, want the text and the hash %s", was, sum)
	}
	if text := readFile(t, to+".txt"); !strings.Contains(text, "Disallow: /before/") || !strings.Contains(text, sum) || strings.Contains(text, "secret") {
		t.Errorf("%s", text)
	}
}
