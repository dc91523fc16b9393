package e2e_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Package managers fetch from a server whose robots.txt disallows everything to all robots: they are no robots, whatever their User-Agents say.
func TestPackageManagersAreServed(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	s := start(t, fmt.Sprintf(`
http://:$PORT {
	root %s
	respond /robots.txt "User-agent: *
Disallow: /
Crawl-delay: 10
"
	robots {
		programs off
	}
	file_server browse
	log
}`, root))
	base := fmt.Sprintf("http://localhost:%d", s.port)
	for path, content := range map[string]string{
		"go/acme.example/m/@v/list":        "v1.0.0\n",
		"go/acme.example/m/@v/v1.0.0.info": `{"Version":"v1.0.0","Time":"2026-01-01T00:00:00Z"}`,
		"go/acme.example/m/@v/v1.0.0.mod":  "module acme.example/m\n",
		"go/acme.example/m/@v/v1.0.0.zip":  zipped(t, "acme.example/m@v1.0.0/go.mod", "module acme.example/m\n"),
		"apt/Packages":                     "Package: acme\nVersion: 1\nArchitecture: all\nMaintainer: A <a@acme.example>\nDescription: a\nFilename: ./acme_1_all.deb\nSize: 1\nSHA256: " + strings.Repeat("0", 64) + "\n",
		"simple/acmepkg/index.html":        `<a href="/simple/acmepkg-1.0-py3-none-any.whl">acmepkg-1.0-py3-none-any.whl</a>`,
		"simple/acmepkg-1.0-py3-none-any.whl": zipped(t, "acmepkg.py", "", "acmepkg-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: acmepkg\nVersion: 1.0\n",
			"acmepkg-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n", "acmepkg-1.0.dist-info/RECORD", ""),
		"npm/acmepkg/index.html":          fmt.Sprintf(`{"name":"acmepkg","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"acmepkg","version":"1.0.0","dist":{"tarball":"%s/npm/acmepkg.tgz"}}}}`, base),
		"npm/acmepkg.tgz":                 tarred(t, "package/package.json", `{"name":"acmepkg","version":"1.0.0"}`),
		"crates/config.json":              fmt.Sprintf(`{"dl":"%s/crates"}`, base),
		"crates/ac/me/acmecrate":          crateIndex(t),
		"crates/acmecrate/1.0.0/download": crate(t),
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(root, path), content)
	}
	gitSource := t.TempDir()
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@acme.example", "commit", "-q", "--allow-empty", "-m", "a"},
		{"clone", "-q", "--bare", ".", filepath.Join(root, "acme.git")}, {"-C", filepath.Join(root, "acme.git"), "update-server-info"}} {
		run(t, gitSource, nil, append([]string{"git"}, args...)...)
	}

	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "sources.list"), "deb [trusted=yes] "+base+"/apt ./\n")
	writeFile(t, filepath.Join(dir, "Cargo.toml"), "[package]\nname = \"a\"\nversion = \"0.1.0\"\n[lib]\npath = \"a.rs\"\n[dependencies]\nacmecrate = { version = \"1\", registry = \"acme\" }\n")
	writeFile(t, filepath.Join(dir, "a.rs"), "")
	for _, name := range []string{"lists/partial", "archives/partial"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	served := 0
	for _, command := range []struct {
		env  []string
		args []string
	}{
		{nil, []string{"git", "clone", "-q", base + "/acme.git", filepath.Join(dir, "clone")}},
		{[]string{"GOPROXY=" + base + "/go", "GONOSUMDB=*", "GOFLAGS=-modcacherw", "GOMODCACHE=" + filepath.Join(dir, "mod")}, []string{"go", "mod", "download", "acme.example/m@v1.0.0"}},
		{nil, []string{"pip3", "download", "-q", "--no-cache-dir", "--no-deps", "--index-url", base + "/simple/", "-d", dir, "acmepkg"}},
		{nil, []string{"npm", "pack", "--silent", "--cache", filepath.Join(dir, "npm"), "--registry", base + "/npm/", "acmepkg"}},
		{[]string{"CARGO_HOME=" + filepath.Join(dir, "cargo"), "CARGO_REGISTRIES_ACME_INDEX=sparse+" + base + "/crates/"}, []string{"cargo", "fetch"}},
		{nil, []string{"apt-get", "-o", "Dir::Etc::sourcelist=" + filepath.Join(dir, "sources.list"), "-o", "Dir::Etc::sourceparts=-", "-o", "Dir::State::lists=" + filepath.Join(dir, "lists"),
			"-o", "Dir::Cache::archives=" + filepath.Join(dir, "archives"), "-o", "APT::Sandbox::User=", "-o", "Debug::NoLocking=1", "--error-on=any", "update"}},
	} {
		if _, err := exec.LookPath(command.args[0]); err != nil {
			t.Logf("%s is not installed: it is not tested", command.args[0])
			continue
		}
		// A tool that can't run on this machine says nothing of the server; git and Go do.
		out, err := tool(dir, command.env, command.args...)
		if err == nil {
			served++
		} else {
			t.Logf("%s: %v\n%s", strings.Join(command.args, " "), err, out)
		}
		if got := statuses(s); got[http.StatusForbidden]+got[http.StatusTooManyRequests] > 0 {
			t.Fatalf("%s: status codes: %v, want no refusal", command.args[0], got)
		}
	}
	if served < 2 {
		t.Errorf("only %d tools have run", served)
	}
}

// run runs a command that must succeed.
func run(t *testing.T, dir string, env []string, args ...string) {
	t.Helper()
	if out, err := tool(dir, env, args...); err != nil {
		t.Errorf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// tool runs a command in a folder, and returns what it printed.
func tool(dir string, env []string, args ...string) ([]byte, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	return cmd.CombinedOutput()
}

// zipped returns a ZIP file. namesAndTexts has the names and the contents of its files in turn.
func zipped(t *testing.T, namesAndTexts ...string) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(namesAndTexts); i += 2 {
		w, err := z.Create(namesAndTexts[i])
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(w, namesAndTexts[i+1])
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// tarred returns a compressed tar file with one file.
func tarred(t *testing.T, namesAndTexts ...string) string {
	var b bytes.Buffer
	g := gzip.NewWriter(&b)
	w := tar.NewWriter(g)
	for i := 0; i < len(namesAndTexts); i += 2 {
		if err := w.WriteHeader(&tar.Header{Name: namesAndTexts[i], Mode: 0o644, Size: int64(len(namesAndTexts[i+1]))}); err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(w, namesAndTexts[i+1])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	g.Close()
	return b.String()
}

func crate(t *testing.T) string {
	return tarred(t, "acmecrate-1.0.0/Cargo.toml", "[package]\nname = \"acmecrate\"\nversion = \"1.0.0\"\n", "acmecrate-1.0.0/src/lib.rs", "")
}

func crateIndex(t *testing.T) string {
	return fmt.Sprintf(`{"name":"acmecrate","vers":"1.0.0","deps":[],"cksum":"%x","features":{},"yanked":false}`+"\n", sha256.Sum256([]byte(crate(t))))
}
