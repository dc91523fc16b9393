package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The command that the proposal prints for a site on another port, without TLS,
// reads the robots.txt of this site.
func TestCommandInProposal(t *testing.T) {
	t.Parallel()
	s := start(t, `
http://localhost:$PORT {
	respond /robots.txt "User-agent: *
Crawl-delay: 600"
}
http://b.test:$PORT {
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
	found := regexp.MustCompile(`(?m)^note: localhost, b\.test: robots\.txt was not read\. .*: (caddy robots init .*)$`).FindStringSubmatch(notes)
	if found == nil {
		t.Fatalf("no command in %s", notes)
	}
	block, _ := run(found[1])
	if !strings.HasPrefix(block, "# For localhost\n") || !strings.Contains(block, "max 60s") {
		t.Errorf("%s prints\n%s", found[1], block)
	}
}
