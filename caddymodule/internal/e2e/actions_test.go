package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// shell runs a command as an operator pastes it.
func (s *server) shell(command string) {
	s.t.Helper()
	if out, err := exec.Command("sh", "-c", strings.Replace(command, "curl ", "curl -sS --fail ", 1)).CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v: %s", command, err, out)
	}
}

// shown returns what a dashboard below a path shows.
func (s *server) shown(path, query string) (live statusapi.Status) {
	s.t.Helper()
	if got := s.get(chrome, path+"?data=live&"+query); got.status != 200 {
		s.t.Fatalf("%s: %d %s", path, got.status, got.body)
	} else if err := json.Unmarshal([]byte(got.body), &live); err != nil {
		s.t.Fatal(err)
	}
	return live
}

// recommended returns the first action for the first problem that a dashboard shows.
func (s *server) recommended(path string) statusapi.Action {
	s.t.Helper()
	problems := s.shown(path, "").Health.Problems
	if len(problems) == 0 || len(problems[0].Actions) == 0 {
		s.t.Fatalf("%s: no action in %+v", path, problems)
	}
	return problems[0].Actions[0]
}

const withPages = `
http://localhost:$PORT, http://127.0.0.1:$PORT {
	robots {
		source inline <<TXT
			User-agent: *
			Disallow: /shop/
			TXT
	}
	handle_path /all/* {
		robots_dashboard {
			access external
			all_sites
		}
	}
	handle_path /own/* {
		robots_dashboard {
			access external
		}
	}
	respond hello
}
`

// Commands work as they are copied, wherever the admin endpoint is. Without one, and on
// pages that do not show all sites, there are words alone.
func TestCommandsHaveTheRealAddress(t *testing.T) {
	t.Parallel()
	s := start(t, withPages)
	socket := filepath.Join(s.dir, "it's admin.sock")
	admin := fmt.Sprintf("http://localhost:%d", s.admin)
	load := func(config string, from ...string) {
		t.Helper()
		cmd := exec.Command("curl", append(from, "-sS", "--fail", "--json", "@-", admin+"/load")...)
		cmd.Stdin = strings.NewReader(config)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	monitor := func(from ...string) {
		t.Helper()
		if out, err := exec.Command("curl", append(from, "-sS", "--fail", "-X", "POST", admin+"/robots/mode?mode=monitor")...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		s.wants(200, s.get(gptbot, "/shop/x"), "in monitor mode")
	}
	mended := func() {
		t.Helper()
		s.shell(s.recommended("/all/").Text)
		s.wants(403, s.get(gptbot, "/shop/x"), "after the command")
	}
	monitor()
	if got := s.recommended("/own/"); got.Text != "" || got.Where != "" || !strings.Contains(got.What, "mode configured") || !strings.Contains(got.What, "admin API") {
		t.Errorf("on a page of one tenant: %+v", got)
	}
	if got := s.shown("/all/", "site=localhost").Health.Problems[0].Actions[0]; !strings.HasPrefix(got.Text, "curl ") {
		t.Errorf("one of all sites: %+v", got)
	}
	mended()
	config := s.do(http.MethodGet, admin+"/config/", "test", "", nil).body
	before := fmt.Sprintf(`"listen":"localhost:%d"`, s.admin)
	if !strings.Contains(config, before) {
		t.Fatal(config)
	}
	load(strings.Replace(config, before, fmt.Sprintf(`"listen":%q`, "unix/"+socket+"|0600"), 1))
	s.eventually("the admin endpoint is a socket", func() bool {
		return exec.Command("curl", "--unix-socket", socket, "-sS", admin+"/config/").Run() == nil
	})
	monitor("--unix-socket", socket)
	mended()
	monitor("--unix-socket", socket)
	load(strings.Replace(config, before, `"disabled":true`, 1), "--unix-socket", socket)
	s.eventually("there is no admin endpoint", func() bool {
		return exec.Command("curl", "--unix-socket", socket, "-sS", admin+"/config/").Run() != nil
	})
	for i := range 330 { // a flood, as there is no other problem without an admin API
		s.get(gptbot, fmt.Sprintf("/%d", i))
	}
	if got := s.recommended("/all/"); got.Where != statusapi.Caddyfile {
		t.Errorf("without an admin endpoint: %+v", got)
	}
}
