package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The block that the command prints for a site is valid there, and refuses no
// request.
func TestInitCommandPrintsAValidBlock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "robots.txt"), `User-agent: GPTBot
User-agent: CCBot
User-agent: ClaudeBot
Disallow: /

User-agent: *
Noindex: /old
Disallow: /private
Crawl-delay: 600
`)
	writeFile(t, filepath.Join(dir, "private"), "page")
	site := "http://localhost:$PORT {\n\troot " + dir + "\n\tfile_server\n}\n"
	writeFile(t, filepath.Join(dir, "Caddyfile"), strings.Replace(site, "$PORT", "8080", 1))
	cmd := exec.Command(binary, "robots", "init")
	cmd.Dir = dir
	block, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"mode monitor", "max 60s", "policy no-training", "noindex_lines on"} {
		if !strings.Contains(string(block), want) {
			t.Errorf("the block has no %q:\n%s", want, block)
		}
	}
	s := start(t, strings.Replace(site, "\tfile_server", string(block)+"\tfile_server", 1))
	s.wants(200, s.get(googlebot, "/private"), "a disallowed path in monitor mode")
	s.eventually("the would-be denial is counted", func() bool {
		return s.metric(`caddy_robots_decisions_total{action="would_deny",crawler="Googlebot",reason="disallowed"}`) == 1
	})
}

// The command that the proposal prints for a site on another port, without TLS,
// reads the robots.txt of this site.
func TestCommandInProposal(t *testing.T) {
	t.Parallel()
	s := start(t, `
http://localhost:$PORT {
	respond /robots.txt "User-agent: *
Crawl-delay: 600"
}
http://other.test:$PORT {
	respond hello
}`)
	run := func(command string) (stdout, stderr string) {
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = s.dir
		cmd.Env = append(s.env(), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"))
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, errs.String())
		}
		return out.String(), errs.String()
	}
	_, notes := run("caddy robots init")
	found := regexp.MustCompile(`(?m)^note: localhost: robots\.txt was not read\. .*, run: (caddy robots init .*)$`).FindStringSubmatch(notes)
	if found == nil {
		t.Fatalf("no command in %s", notes)
	}
	block, _ := run(found[1])
	if !strings.HasPrefix(block, "# For localhost\n") || !strings.Contains(block, "max 60s") {
		t.Errorf("%s prints\n%s", found[1], block)
	}
}
