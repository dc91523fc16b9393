//go:build release

package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// needs reports whether the machine has what a test needs: root and programs. It
// says what is missing, and in CI, which installs it, the test fails.
func needs(t *testing.T, programs ...string) bool {
	t.Helper()
	var missing []string
	if os.Geteuid() != 0 {
		missing = append(missing, "root")
	}
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			missing = append(missing, p)
		}
	}
	if missing != nil && os.Getenv("CI") != "" {
		t.Fatalf("missing: %s", missing)
	}
	if missing != nil {
		t.Logf("nothing is tested without %s", missing)
	}
	return missing == nil
}

// podman runs Podman with its storage in a folder of the test. Its containers have
// no network but their own loopback.
type podman struct {
	t   *testing.T
	dir string
}

// try runs a command, and returns what it printed.
func (p podman) try(args ...string) (string, error) {
	cmd := exec.Command("podman", append([]string{
		"--root", filepath.Join(p.dir, "storage"), "--runroot", filepath.Join(p.dir, "run"), "--storage-driver", "vfs",
		"--runtime", "runc", "--cgroup-manager", "cgroupfs", "--events-backend", "none",
	}, args...)...)
	cmd.Env = append(os.Environ(), "DISABLE_HC_SYSTEMD=true", "TMPDIR="+p.dir)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// do runs a command that must work.
func (p podman) do(args ...string) string {
	p.t.Helper()
	out, err := p.try(args...)
	if err != nil {
		p.t.Fatalf("podman %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// run starts a container, and waits until its health check says that it works.
func (p podman) run(name string, options ...string) {
	p.t.Helper()
	args := append([]string{"run", "--detach", "--name", name, "--network", "none", "--log-driver", "k8s-file", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"}, options...)
	p.do(append(args, "caddy-robots")...)
	p.t.Cleanup(func() {
		if p.t.Failed() {
			log, _ := p.try("logs", name)
			p.t.Logf("log of %s:\n%s", name, log)
		}
		_, _ = p.try("rm", "--force", "--volumes", "--time", "0", name)
	})
	var out string
	var err error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if out, err = p.try("healthcheck", "run", name); err == nil {
			return
		}
	}
	log, _ := p.try("inspect", "--format", "{{json .State.Healthcheck}}", name)
	p.t.Fatalf("%s is not healthy: %v %s\n%s", name, err, out, log)
}

// bases makes doubles of the images that the Dockerfile starts from, for no
// registry is asked: Busybox, like Alpine, and with the machine's own Go and
// setcap. Its apk installs nothing, and fails for packages that the double lacks.
func (p podman) bases() {
	p.t.Helper()
	for _, m := range [][2]string{{"alpine:", "alpine"}, {"golang:", "golang"}} {
		var name string
		for _, word := range strings.Fields(readFile(p.t, "Dockerfile")) {
			if strings.HasPrefix(word, m[0]) {
				name, _, _ = strings.Cut(word, "@")
			}
		}
		dir := filepath.Join(p.dir, m[1])
		script := `set -e
mkdir -p "$1/bin" "$1/tmp" "$1/etc/ssl/certs" "$1/sbin"
chmod 1777 "$1/tmp"
program() {
	for file in "$(command -v "$1")" $(ldd "$(command -v "$1")" | grep -o '/[^ ]*'); do cp --parents -L "$file" "$2"; done
}
program busybox "$1"
`
		if m[1] == "golang" {
			script += `program setcap "$1"
cp /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/"
echo 'text/x-from-mailcap mailcap' >"$1/etc/mime.types"
printf '#!/bin/sh\n[ "$*" = "add --no-cache libcap mailcap" ]\n' >"$1/sbin/apk"
chmod +x "$1/sbin/apk"
`
		}
		if out, err := exec.Command("sh", "-c", script, "sh", dir).CombinedOutput(); err != nil {
			p.t.Fatalf("%v\n%s", err, out)
		}
		file := filepath.Join(p.dir, "Containerfile")
		text := "FROM scratch\nCOPY . /\n" +
			"ENV PATH=/usr/local/go/bin:/usr/sbin:/usr/bin:/sbin:/bin GOPATH=/go GOCACHE=/go/cache GOTOOLCHAIN=local GOPROXY=off\n" +
			"RUN [\"busybox\", \"--install\", \"-s\", \"/bin\"]\n"
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			p.t.Fatal(err)
		}
		p.do("build", "--layers=false", "--isolation", "chroot", "--tag", "docker.io/library/"+name, "--file", file, dir)
	}
}

// build builds the image from the Dockerfile, whose bases are the doubles and have
// other digests, with the machine's cache of modules and of compiled packages.
func (p podman) build() {
	p.t.Helper()
	if out, err := exec.Command("go", "mod", "download").CombinedOutput(); err != nil {
		p.t.Fatalf("%v\n%s", err, out)
	}
	env, err := exec.Command("go", "env", "GOROOT", "GOMODCACHE", "GOCACHE").Output()
	if err != nil {
		p.t.Fatal(err)
	}
	folders := strings.Fields(string(env))
	file := filepath.Join(p.dir, "Dockerfile")
	if err := os.WriteFile(file, []byte(regexp.MustCompile(`@sha256:\w+`).ReplaceAllString(readFile(p.t, "Dockerfile"), "")), 0o644); err != nil {
		p.t.Fatal(err)
	}
	p.do("build", "--layers=false", "--isolation", "chroot", "--format", "docker", "--pull-never", "--build-arg", "VERSION="+testTag, "--tag", "caddy-robots", "--file", file,
		"--volume", folders[0]+":/usr/local/go:ro", "--volume", folders[1]+":/go/pkg/mod", "--volume", folders[2]+":/go/cache", root)
}

// testImage: the image of the Dockerfile works as its comment says: with a read-only root,
// without being root, and with the options of those who allow even less.
func testImage(t *testing.T) {
	if !needs(t, "podman", "runc", "busybox", "setcap") {
		return
	}
	p := podman{t, t.TempDir()}
	p.bases()
	p.build()

	site := filepath.Join(p.dir, "site")
	if err := os.Mkdir(site, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"robots.txt": "User-agent: *\nDisallow: /private\n", "private": "page", "file.mailcap": "file"} {
		if err := os.WriteFile(filepath.Join(site, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p.run("caddy", "--read-only", "--read-only-tmpfs=false", "--volume", site+":/srv:ro")
	exec := func(args ...string) (string, error) { return p.try(append([]string{"exec", "caddy"}, args...)...) }
	for _, tt := range []struct {
		args, want string
	}{
		{"id -u", "1000"},
		{"cat /proc/sys/net/ipv4/ip_unprivileged_port_start", "1024"},
		{"caddy robots --version", "caddy-robots " + testTag},
		{"caddy reload --config /etc/caddy/Caddyfile", ""},
		{"caddy robots status", ""},
		{"ls /config/caddy", "autosave.json"},
		{"grep -m 1 caddyserver/caddy/v2 /usr/share/doc/caddy-robots/NOTICES", "LICENSE"},
		{"wget -q -O - -U Mozilla/5.0 http://127.0.0.1/private", "page"},
		{"wget -S -O /dev/null http://127.0.0.1/file.mailcap", "text/x-from-mailcap"},
	} {
		if out, err := exec(strings.Fields(tt.args)...); err != nil || !strings.Contains(out, tt.want) {
			t.Errorf("%s: %v %q, want %q", tt.args, err, out, tt.want)
		}
	}
	for args, want := range map[string]string{
		"wget -q -O - -U GPTBot/1.2 http://127.0.0.1/private": "403",
		"touch /etc/caddy/file":                               "Read-only",
		"touch /file":                                         "Read-only",
	} {
		if out, err := exec(strings.Fields(args)...); err == nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v %q, want %q", args, err, out, want)
		}
	}

	// A server that hangs is not healthy, and it ends well.
	p.do("kill", "--signal", "STOP", "caddy")
	if out, err := p.try("healthcheck", "run", "caddy"); err == nil {
		t.Errorf("a stopped server is healthy: %s", out)
	}
	p.do("kill", "--signal", "CONT", "caddy")
	p.do("stop", "--time", "60", "caddy")
	if got := p.do("inspect", "--format", "{{.State.ExitCode}}", "caddy"); got != "0" {
		t.Errorf("exit status %s", got)
	}

	p.run("few-capabilities", "--cap-drop=all", "--cap-add=NET_BIND_SERVICE")
	p.run("no-new-privileges", "--security-opt=no-new-privileges", "--sysctl=net.ipv4.ip_unprivileged_port_start=0")
	p.run("other-user", "--user=4321:4321")
	// A volume of an image that ran as root.
	p.run("as-root", "--user=0", "--volume", "data:/data", "--volume", "config:/config")
	p.do("rm", "--force", "as-root")
	p.do("run", "--rm", "--network", "none", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024", "--user=0",
		"--volume", "data:/data", "--volume", "config:/config", "caddy-robots", "chown", "-R", "1000:1000", "/data", "/config")
	p.run("not-root", "--volume", "data:/data", "--volume", "config:/config")
	if out, err := p.try("exec", "not-root", "sh", "-c", "test -O /config/caddy/autosave.json"); err != nil {
		t.Errorf("the state of the server before has another owner: %v %s", err, out)
	}
}
