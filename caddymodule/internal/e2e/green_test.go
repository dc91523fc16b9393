package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// While rules are not in force, or most likely not those that are meant, nothing is
// green: health has the problem, and the exit status of `status` is 2.
func TestNothingIsGreenWithoutTheRulesThatAreMeant(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, site string
		problem    string // what status prints; "" if nothing is wrong
		kind       string // no_rules if not given
	}{
		{"a broken file", "robots\n\trespond /robots.txt \"User-agent: *\nDissallow: private/\"\n\trespond page", "warning: line 2 of robots.txt of shop.test, `Dissallow: private/`, does not do what it says: the path does not start with a slash", "mistake"},
		{"a broken text in the configuration", "robots {\n\tsource inline \"User-agent: *\nDisallow: private/\"\n\tpublish\n\t}\n\trespond page", "of Caddyfile of shop.test, `Disallow: private/`, does not do what it says", "mistake"},
		{"a block with a path, and no route for the file", "handle_path /app/* {\n\t\trobots\n\t\trespond page\n\t}", "warning: no route answers /robots.txt at the host of the robots handler of shop.test", ""},
		{"a handler that no request reaches", "route {\n\t\trespond 404\n\t\trobots\n\t}", "no request reaches the robots handler of shop.test", ""},
		{"no file", "robots\n\trespond 404", "warning: there is no robots.txt of shop.test: crawlers may fetch everything", ""},
		{"a name that no crawler sends", "robots\n\trespond /robots.txt \"User-agent: Google-Extended\nDisallow: /\"\n\trespond page", "groups for nobody else than Google-Extended", ""},
		{"401", "robots\n\trespond 401", "warning: robots.txt of shop.test can't be used: status 401; crawlers may fetch everything", ""},
		{"a loop", "robots\n\tredir /robots.txt /robots.txt\n\trespond page", "error: robots.txt of shop.test can't be used: it redirects more than five times", "robots_txt"},
		{"another host", "robots\n\tredir https://elsewhere.example{uri}", "warning: robots.txt of shop.test can't be used: it redirects to https://elsewhere.example/robots.txt", ""},
		{"a lone Disallow", "robots {\n\tsource inline \"User-agent: *\nDisallow:\"\n\tpublish\n\t}\n\trespond page", "", ""},
		{"no file, and a policy", "robots {\n\tpolicy no-training\n\t}\n\trespond 404", "", ""},
		{"no file, and headers", "robots {\n\tx_robots_tag *.pdf noindex\n\t}\n\trespond 404", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, "http://shop.test:$PORT {\n\t"+tt.site+"\n}\n")
			if tt.problem == "" {
				s.eventually("it is read", func() bool {
					list := adminValue[statusapi.Origins](s, "origins").Origins
					return len(list) == 1 && list[0].State != "pending"
				})
				if out := s.exitsWith(0); !strings.Contains(out, "No problems.") || !s.health().OK {
					t.Error(out)
				}
				return
			}
			if out := s.exitsWith(2); !strings.Contains(out, tt.problem) {
				t.Errorf("want %q:\n%s", tt.problem, out)
			}
			kind := tt.kind
			if kind == "" {
				kind = "no_rules"
			}
			if h := adminValue[statusapi.Health](s, "health"); h.OK || len(h.Problems) != 1 || h.Problems[0].Kind != kind || h.Problems[0].Advice == "" {
				t.Errorf("health: %+v", h)
			}
		})
	}
}

// A global block without a handler does nothing.
func TestAGlobalBlockWithoutAHandlerIsNotGreen(t *testing.T) {
	t.Parallel()
	s := start(t, "{\n\trobots {\n\t\tmode monitor\n\t}\n}\nhttp://shop.test:$PORT {\n\trespond page\n}\n")
	if out := s.exitsWith(2); !strings.Contains(out, "no site has the line `robots`") {
		t.Error(out)
	}
	if len(s.lines("no site has the line `robots`: no robots.txt is read, and nothing is refused")) != 1 {
		t.Error("the log does not say it")
	}
	if err := s.reload("http://shop.test:$PORT {\n\trobots {\n\t\tsource inline \"User-agent: *\nDisallow: /\"\n\t\tpublish\n\t}\n\trespond page\n}\n"); err != nil {
		t.Fatal(err)
	}
	s.exitsWith(0)
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

// Of two handlers, the second may never decide. Only requests show it.
func TestAHandlerThatNeverDecidesIsNotGreen(t *testing.T) {
	t.Parallel()
	block := func(name string) string {
		return name + " {\n\t\tsource inline \"User-agent: *\nDisallow: /private/\"\n\t\tpublish\n\t}\n\t"
	}
	s := start(t, "&(shared) {\n\t"+block("robots")+"}\nhttp://shop.test:$PORT {\n\troute {\n\t"+block("robots")+"invoke shared\n\trespond page\n\t}\n}\n")
	s.exitsWith(0) // the load has warned
	s.wants(200, s.at("shop.test", chrome, "/"), "a page")
	if out := s.exitsWith(2); !strings.Contains(out, "the robots handler of this server has never decided") {
		t.Error(out)
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

// `caddy validate` says what it can know.
func TestValidateSaysWhatIsMostLikelyNotMeant(t *testing.T) {
	t.Parallel()
	inline := func(text string) string {
		return "http://shop.test:1 {\nrobots {\nsource inline \"" + text + "\"\npublish\n}\nrespond page\n}\n"
	}
	warned := regexp.MustCompile(`"level":"warn".*"logger":"(http.handlers.)?robots"`)
	file := filepath.Join(t.TempDir(), "robots.txt")
	writeFile(t, file, "User-agent: *\nDisallow: private/\n")
	for _, tt := range []struct{ name, caddyfile, warning string }{
		{"no handler", "{\nrobots {\nmode monitor\n}\n}\nhttp://shop.test:1 {\nrespond page\n}\n", "no site has the line `robots`"},
		{"no route for the file", "http://shop.test:1 {\nhandle_path /app/* {\nrobots\nrespond page\n}\n}\n", "no route answers /robots.txt"},
		{"a path inside another one", "http://shop.test:1 {\nhandle /a/* {\n@b path /b/*\nrobots @b\n}\nrespond page\n}\n", "no request reaches this robots handler"},
		{"a broken file", "http://shop.test:1 {\nrobots {\nsource file " + file + "\n}\nrespond page\n}\n", "the path does not start with a slash"},
		{"a broken text", inline("User-agent: *\nDisallow: private/"), "the path does not start with a slash"},
		{"a text without rules", inline("# none"), "crawlers may fetch everything"},
		{"a name that no crawler sends", inline("User-agent: Google-Extended\nDisallow: /"), "groups for nobody else than Google-Extended"},
		{"a lone Disallow", inline("User-agent: *\nDisallow:"), ""},
		{"a site", "http://shop.test:1 {\nrobots\nrespond page\n}\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, problems, _, err := command(t, tt.caddyfile, "validate")
			if all := out + problems; err != nil || !strings.Contains(all, tt.warning) || tt.warning == "" && warned.MatchString(all) {
				t.Errorf("%v, want %q:\n%s", err, tt.warning, all)
			}
		})
	}
}
