package e2e_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// A changed registry file is read without a reload, and a reload keeps its
// crawlers.
func TestRegistryFileInARunningServer(t *testing.T) {
	t.Parallel()
	const thing = "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/130.0 OneThing/1.0"
	file := filepath.Join(t.TempDir(), "crawlers.jsonl")
	writeFile(t, file, "# none\n")
	config := siteWith("registry " + file)
	s := start(t, config)
	private := func(ua string, status int) func() bool {
		return func() bool { return s.get(ua, "/private/x").status == status }
	}
	s.wants(200, s.get(thing, "/private/x"), "a crawler that is not in the registry yet")
	s.wants(200, s.get("AcmeBot/1.0", "/"), "the first request")

	writeFile(t, file, `{"name": "OneThing", "purposes": ["test"]}`+"\n")
	s.eventually("the crawler of the file is known", private(thing, 403))
	s.wants(429, s.get("AcmeBot/1.0", "/"), "a budget from before the change")
	s.wants(200, s.get(chrome, "/private/x"), "a person")

	writeFile(t, file, "{\n")
	s.eventually("the broken file is logged", func() bool {
		return len(s.lines("the registry file can't be used: the previous crawlers stay in force")) == 1
	})
	s.wants(403, s.get(thing, "/private/x"), "a crawler of the last good file")
	if err := s.reload(config); err == nil {
		t.Error("a configuration with a broken registry was loaded")
	}
	s.wants(403, s.get(thing, "/private/x"), "a crawler of the last good file, after a failed reload")

	writeFile(t, file, `{"name": "OneThing"}`+"\n")
	if err := s.reload(config); err != nil {
		t.Fatal(err)
	}
	s.wants(403, s.get(thing, "/private/x"), "a crawler of the file, after a reload")
	writeFile(t, file, "")
	s.eventually("the file's crawler is unknown again", private(thing, 200))
	if n := s.metric(`caddy_robots_registry_fetches_total{outcome="failed"}`); n != 1 {
		t.Errorf("%v failed reads are counted, want 1", n)
	}
}

// Rows that would make people robots are rejected: of a URL each alone, with a log
// line; of a file all, with the number of the line.
func TestRegistryDoesNotMakePeopleRobots(t *testing.T) {
	t.Parallel()
	const (
		iphone  = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS;FBLC/en_US]"
		android = "Mozilla/5.0 (Linux; Android 14; Pixel 7 Pro Build/UP1A.231005.007; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/122.0 Mobile Safari/537.36 [FB_IAB/FB4A;]"
		tv      = "Mozilla/5.0 (SMART-TV; LINUX; Tizen 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Version/5.0 TV Safari/537.36"
		thing   = "OneThing/1.0"
	)
	// Words that people.txt does not have: new phones, systems and browsers.
	unlisted := map[string]string{
		"18_7":     "Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1",
		"AFTMM":    "Mozilla/5.0 (Linux; Android 7.1.2; AFTMM Build/NS6265; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/70.0.3538.110 Mobile Safari/537.36",
		"Galaxy":   "Mozilla/5.0 (Linux; Android 4.2.1; Galaxy Nexus Build/JOP40D) AppleWebKit/535.19 (KHTML, like Gecko) Chrome/18.0.1025.166 Mobile Safari/535.19",
		"Acmebird": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Acmebird/1.0 Safari/537.36",
	}
	rows := ""
	for i, token := range []string{"CPU", "15E148", "TV", "en_US", "FB4A", "Pixel 7 Pro"} {
		rows += fmt.Sprintf(`{"name": "Thing%d", "user_agents": [%q]}`+"\n", i, token)
	}
	for token := range unlisted {
		rows += fmt.Sprintf(`{"name": "New%s", "user_agents": [%q]}`+"\n", token, token)
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, rows+`{"name": "Inward", "verify": {"ranges": ["https://10.0.0.1/list"]}}`+"\n"+`{"name": "OneThing"}`+"\n")
	}))
	defer web.Close()
	s := start(t, siteWith("registry "+web.URL))
	s.eventually("the good row is used", func() bool { return s.get(thing, "/private/x").status == 403 })
	for _, ua := range []string{iphone, android, tv} {
		s.wants(200, s.get(ua, "/private/x"), ua)
	}
	for _, ua := range unlisted {
		s.wants(200, s.get(ua, "/private/x"), ua)
	}
	if lines := s.lines("a row of the registry was rejected"); len(lines) != 8 {
		t.Errorf("%d rows were rejected, want 8: %v", len(lines), lines)
	}

	file := filepath.Join(t.TempDir(), "crawlers.jsonl")
	writeFile(t, file, `{"name": "OneThing"}`+"\n"+`{"name": "Acme", "user_agents": ["CPU"]}`+"\n")
	if err := s.reload(siteWith("registry " + file)); err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a file with the token of phones: %v", err)
	}
}
