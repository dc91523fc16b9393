package e2e_test

import (
	"path/filepath"
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
	s.wants(200, s.get(bingbot, "/"), "the first request")

	writeFile(t, file, `{"name": "OneThing", "purpose": "test"}`+"\n")
	s.eventually("the crawler of the file is known", private(thing, 403))
	s.wants(429, s.get(bingbot, "/"), "a budget from before the change")
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
