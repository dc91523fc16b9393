package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// exitsWith waits until `caddy robots status` with arguments has an exit status, and
// returns what it prints.
func (s *server) exitsWith(code int, args ...string) (out string) {
	s.t.Helper()
	s.eventually("the exit status", func() bool {
		var err error
		out, err = s.status(args...)
		got := 0
		if exit, ok := err.(*exec.ExitError); ok {
			got = exit.ExitCode()
		} else if err != nil {
			s.t.Fatal(err)
		}
		return got == code
	})
	return out
}

// A protection that is configured and does not run is a problem.
func TestAProtectionThatDoesNotRunIsNotGreen(t *testing.T) {
	t.Parallel()
	site := "{\n\tstorage file_system {\n\t\troot $DIR/storage\n\t}\n}\nhttp://shop.test:$PORT {\n\trobots {\n\t\tsource inline \"User-agent: *\nDisallow: /x\"\n" +
		"\t\tpublish\n\t\tregistry $DIR/registry.jsonl\n\t\tchallenge /blame/*\n\t}\n\trespond page\n}\n" +
		"http://page.test:$PORT {\n\trobots_dashboard {\n\t\taccess external\n\t}\n}\n"
	s := &server{t: t, dir: t.TempDir(), host: "localhost", port: freePort(t), admin: freePort(t), program: executable(t)}
	keys := filepath.Join(s.dir, "storage", "robots", "challenge", "keys")
	for _, folder := range []string{filepath.Dir(keys)} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, keys, "garbage")
	row := `{"name":"XBot","operator":"X","user_agents":["XBot"],"robots":["XBot"],"purposes":["seo"]}` + "\n"
	writeFile(t, filepath.Join(s.dir, "registry.jsonl"), row)
	s.run(site)
	if out := s.exitsWith(2); !strings.Contains(out, "error: the keys of passes can't be read or stored: nobody is asked") {
		t.Error(out)
	}
	if h := adminValue[statusapi.Health](s, "health?site=shop.test"); h.OK {
		t.Error("the site's page is green without a key")
	}
	if err := os.Remove(keys); err != nil {
		t.Fatal(err)
	}
	s.exitsWith(0)
	writeFile(t, filepath.Join(s.dir, "registry.jsonl"), "{")
	s.eventually("the registry is a problem", func() bool {
		out, _ := s.status()
		return strings.Contains(out, "the registry can't be read: the previous crawlers stay in force")
	})
	writeFile(t, filepath.Join(s.dir, "registry.jsonl"), row)
	s.eventually("it is mended", func() bool { return adminValue[statusapi.Health](s, "health").OK })
	page := s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/?data=live", s.port), chrome, "page.test", nil)
	if page.status != 200 || !strings.Contains(page.body, "the site page.test has no line `robots`") {
		t.Errorf("the page of a site without a handler: %d %s", page.status, page.body)
	}
}

// Copies that can't be stored are a problem, also while everything still works.
func TestAStorageThatFailsIsNotGreen(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/list.json" {
			_, _ = io.WriteString(w, `{"prefixes":[{"ipv4Prefix":"198.51.100.0/24"}]}`)
			return
		}
		_, _ = io.WriteString(w, `{"name":"XBot","operator":"X","user_agents":["XBot"],"robots":["XBot"],"purposes":["seo"]}`+"\n")
	}))
	t.Cleanup(web.Close)
	s := &server{t: t, dir: t.TempDir(), host: "localhost", port: freePort(t), admin: freePort(t), program: executable(t)}
	writeFile(t, filepath.Join(s.dir, "storage", "robots"), "a file where the folder belongs")
	s.run("{\n\tstorage file_system {\n\t\troot $DIR/storage\n\t}\n}\nhttp://:$PORT {\n\trobots {\n\t\tsource inline \"User-agent: *\nDisallow: /x\"\n" +
		"\t\tpublish\n\t\tregistry " + web.URL + "\n\t\tverify\n\t\tcrawler ListBot {\n\t\t\tverify lists " + web.URL + "/list.json\n\t\t}\n\t}\n\trespond page\n}\n")
	for _, want := range []string{"the copies of lists of addresses and directories of keys can't be", "the copy of the registry can't be"} {
		s.eventually(want, func() bool {
			out, _ := s.status()
			return strings.Contains(out, want)
		})
	}
}

// The file of a host that only a pattern names is its tenant's: it colours the page and
// the row of the tenant. What all hosts have in common is the server's.
func TestAFileOfATenantIsNotThatOfTheServer(t *testing.T) {
	t.Parallel()
	back := newBackend(t, onlyRobotsTxt(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Host, "bad") {
			text(200, "User-agent: *\nDisallow: private/\n")(w, r)
			return
		}
		if strings.HasPrefix(r.Host, "down") {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		rules("/private/")(w, r)
	}))
	s := start(t, "http://*.test:$PORT {\n\trobots\n\treverse_proxy "+back.URL+"\n}\n")
	s.wants(200, s.at("bad.test", gptbot, "/"), "the broken tenant")
	if out := s.exitsWith(2); !strings.Contains(out, "line 2 of robots.txt of bad.test") {
		t.Errorf("all hosts that are known have the same broken file:\n%s", out)
	}
	s.wants(403, s.at("good.test", gptbot, "/private/x"), "another tenant")
	s.exitsWith(0)
	if out := s.exitsWith(2, "--site", "bad.test"); !strings.Contains(out, "line 2 of robots.txt of bad.test") {
		t.Error(out)
	}
	s.exitsWith(0, "--site", "good.test")
	s.at("down.test", gptbot, "/private/x")
	if out := s.exitsWith(0); !strings.Contains(out, "note: robots.txt of down.test could not be fetched") {
		t.Error(out)
	}
	s.exitsWith(2, "--strict")
	ok := make(map[string]bool)
	for _, row := range adminValue[statusapi.Summary](s, "?rows=10").Rows {
		ok[row.Name] = row.OK
	}
	if len(ok) != 4 || ok["bad.test"] || !ok["good.test"] || !ok["*.test"] {
		t.Errorf("rows that are fine: %v", ok)
	}
}
