package commands_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/fileserver" // the directive file_server

	"github.com/caddy-robots/caddy-robots/internal/audit"
)

// Each of many sites of a configuration is judged by its own robots.txt, however few of
// the requests it has: that of its source, of its root folder, or of its address with
// its port. No other host is asked for one.
func TestAuditJudgesEachSiteByItsOwnFile(t *testing.T) {
	var asked []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, _, _ := strings.Cut(r.Host, "."); name == "without" {
			http.NotFound(w, r)
		} else {
			robotsOf("User-agent: *\nDisallow: /of-"+name+"/\n", &asked)(w, r)
		}
	}))
	defer srv.Close()
	_, port, _ := strings.Cut(srv.Listener.Addr().String(), ":")
	dir := t.TempDir()
	writeText(t, filepath.Join(dir, "file-robots.txt"), "User-agent: *\nDisallow: /of-file/\n")
	for _, name := range []string{"rooted", "answered"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		writeText(t, filepath.Join(dir, name, "robots.txt"), "User-agent: *\nDisallow: /of-rooted/\n")
	}
	sites := []struct{ name, block, from string }{
		{"inline", "robots {\nsource inline \"User-agent: *\nDisallow: /of-inline/\"\n}", "the configuration"},
		{"file", "robots {\nsource file DIR/file-robots.txt\n}", "DIR/file-robots.txt"},
		{"url", "robots {\nsource url http://127.0.0.1:PORT/robots.txt\n}", "http://127.0.0.1:PORT/robots.txt"},
		{"rooted", "robots\nroot DIR/rooted\nfile_server", "DIR/rooted/robots.txt"},
		{"answered", "robots\nroot DIR/answered\nrespond ok\nfile_server", "http://answered.localhost:PORT/robots.txt"},
		{"without", "robots\nrespond ok", "http://without.localhost:PORT/robots.txt answers 404: no rules"},
	}
	for i := range 24 {
		name := fmt.Sprintf("site%d", i)
		sites = append(sites, struct{ name, block, from string }{name, "robots\nrespond ok", "http://" + name + ".localhost:PORT/robots.txt"})
	}
	var caddyfile, log strings.Builder
	replace := strings.NewReplacer("DIR", dir, "PORT", port)
	fmt.Fprintf(&caddyfile, "http://gone.localhost:1 {\nrobots\n}\n")
	for _, s := range sites {
		fmt.Fprintf(&caddyfile, "http://%s.localhost:%s {\n%s\n}\n", s.name, port, replace.Replace(s.block))
		log.WriteString(lineOfGPTBot(s.name+".localhost", "/of-"+s.name+"/"))
	}
	log.WriteString(lineOfGPTBot("gone.localhost", "/") + strings.Repeat(lineOfGPTBot("stranger.localhost:"+port, "/"), 100))
	config, access := filepath.Join(dir, "Caddyfile"), filepath.Join(dir, "access.log")
	writeText(t, config, caddyfile.String())
	writeText(t, access, log.String())

	r, stderr := audited(t, "", "--config", config, access)
	if denied, want := r.WouldHave.Denied, int64(len(sites)-2); denied != want { // without has no rules, and url those of elsewhere
		t.Errorf("denied %d, want %d", denied, want)
	}
	if len(asked) != 26 {
		t.Errorf("%d fetches", len(asked))
	}
	for _, s := range sites {
		line := replace.Replace(fmt.Sprintf("The robots.txt of %s.localhost: %s\n", s.name, s.from))
		if !strings.Contains(stderr, line) {
			t.Errorf("no %q", line)
		}
		known := false
		for _, h := range r.Hosts {
			known = known || h.Name == s.name+".localhost" && h.Known
		}
		if !known {
			t.Errorf("the robots.txt of %s is not known", s.name)
		}
	}
	if strings.Contains(stderr, "stranger") {
		t.Error("a host that only the log names was asked")
	}
	i := slices.IndexFunc(r.Warnings, func(w audit.Warning) bool { return w.Code == "no_robots" })
	if i < 0 || !strings.Contains(r.Warnings[i].Text, "are not judged: gone.localhost. Pass the file") || !strings.Contains(stderr, "Warning: The robots.txt of gone.localhost is not known: Get \"http://gone.localhost:1/") {
		t.Errorf("%+v, standard error %q", r.Warnings, stderr)
	}
}

// The hosts of a site with the same robots.txt are one site, for which changes can be
// suggested.
func TestAuditJoinsHostsOfASite(t *testing.T) {
	var asked []string
	srv := httptest.NewServer(robotsOf("User-agent: *\nDisallow: /private/\n", &asked))
	defer srv.Close()
	_, port, _ := strings.Cut(srv.Listener.Addr().String(), ":")
	dir := t.TempDir()
	config, log := filepath.Join(dir, "Caddyfile"), filepath.Join(dir, "access.log")
	writeText(t, config, strings.ReplaceAll("http://a.localhost:PORT, http://www.a.localhost:PORT {\nrobots\n}\n", "PORT", port))
	writeText(t, log, lineOfGPTBot("a.localhost", "/private/")+lineOfGPTBot("www.a.localhost", "/private/"))
	r, stderr := audited(t, "", "--config", config, "--suggest", log)
	if r.WouldHave.Denied != 2 || len(r.Sources) != 1 || len(r.Sources[0].Hosts) != 2 || len(asked) != 2 {
		t.Errorf("denied %d, asked %d, sources %+v: %s", r.WouldHave.Denied, len(asked), r.Sources, stderr)
	}
}
