//go:build release

package release

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// testService runs the commands of docs/install.md, in their order, on a machine with a service like
// that of Caddy's package. systemd checks the override file; a double of systemctl
// runs its commands.
func testService(t *testing.T, program string) {
	if !needs(t, "setpriv", "ip", "systemd-analyze", "useradd", "chroot") {
		return
	}
	var blocks []string
	for _, m := range regexp.MustCompile("(?ms)^ *```sh\n(.*?)^ *```$").FindAllStringSubmatch(readFile(t, "docs/install.md"), -1) {
		blocks = append(blocks, regexp.MustCompile(`(?m)^   `).ReplaceAllString(m[1], ""))
	}
	if len(blocks) != 6 {
		t.Fatalf("docs/install.md has %d blocks of commands, and the test is written for 6", len(blocks))
	}
	install, upgrade, rollBack, validate, remove, clean := blocks[0], blocks[1], blocks[2], blocks[3], blocks[4], blocks[5]

	// before and after what the page tells, a check of the state
	script := strings.Join([]string{`
plain=':80 {
	respond hello
}'
robots=':80 {
	robots
	respond hello
}'
runs() { [ "$(readlink "/proc/$(cat /run/caddy.pid)/exe")" = "$1" ] || { echo "the service runs $(readlink "/proc/$(cat /run/caddy.pid)/exe"), want $1"; exit 1; }; }
echo "$plain" >/etc/caddy/Caddyfile
systemctl daemon-reload
systemctl restart caddy
runs /usr/bin/caddy`,
		install, `
runs /usr/local/bin/caddy
echo "$robots" >/etc/caddy/Caddyfile
systemctl reload caddy
mkdir -p /var/lib/caddy/.local/share/caddy/robots`,
		upgrade, `
runs /usr/local/bin/caddy
echo old >>/usr/local/bin/caddy.old`,
		rollBack, `
runs /usr/local/bin/caddy
[ "$(tail -c 4 /usr/local/bin/caddy)" = old ]
if out=$(exec 2>&1`, validate, `); then echo "the package's program knows robots"; exit 1; fi
echo "$out" | grep -F 'unrecognized directive: robots'
echo "$plain" >/etc/caddy/Caddyfile`,
		validate, remove, `
runs /usr/bin/caddy
[ ! -e /usr/local/bin/caddy ] && [ ! -e /usr/local/bin/caddy.old ]`,
		clean, `
[ -e /var/lib/caddy/.local/share/caddy ] && [ ! -e /var/lib/caddy/.local/share/caddy/robots ]
kill "$(cat /run/caddy.pid)"
echo all steps worked`}, "\n")

	dir := t.TempDir()
	unit, err := os.ReadFile("testdata/caddy.service")
	if err := errors.Join(err, os.WriteFile(filepath.Join(dir, "script"), []byte(script), 0o644), os.WriteFile(filepath.Join(dir, "caddy.service"), unit, 0o644),
		os.Mkdir(filepath.Join(dir, "machine"), 0o755)); err != nil {
		t.Fatal(err)
	}
	stock := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(dir, "stock"), "github.com/caddyserver/caddy/v2/cmd/caddy")
	stock.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := stock.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	machine := exec.CommandContext(t.Context(), "sh", "testdata/machine.sh", dir, program)
	machine.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWPID, Unshareflags: syscall.CLONE_NEWNS,
		Pdeathsig: syscall.SIGKILL, // if the test is killed, all of the machine ends
	}
	out, err := machine.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "all steps worked") {
		t.Errorf("%v\n%s", err, out)
	}
}
