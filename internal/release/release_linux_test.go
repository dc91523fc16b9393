//go:build release

// The tests with the build tag release compile programs and an image, for minutes on
// a machine that has not done so before. Only .ci/run runs them.

package release

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// testTag is the tag of the releases that tests build.
const testTag = "v9.9.9"

// A release has archives with programs that know its version and with the licences,
// lists of the modules in them, and checksums. The program gh
// is a double, which only notes its arguments. The image and the service are tested
// after it, with what it has compiled.
func TestRelease(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "release"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := step(t, "build", "build", testTag, "RUNNER_TEMP="+dir, "TARGETS=linux/"+runtime.GOARCH); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	name := "caddy-robots_" + testTag + "_linux_" + runtime.GOARCH
	archive := "files/" + name + ".tar.gz"
	check := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	check.Dir = filepath.Join(dir, "release/files")
	if out, err := check.CombinedOutput(); err != nil || !strings.Contains(string(out), name+".tar.gz: OK") {
		t.Errorf("checksums: %v\n%s", err, out)
	}
	if out, err := exec.Command("tar", "-C", dir, "-xvzf", filepath.Join(dir, "release", archive)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	program := filepath.Join(dir, name, "caddy")
	notices, _ := os.ReadFile(filepath.Join(dir, name, "NOTICES"))
	licence, _ := os.ReadFile(filepath.Join(dir, name, "LICENSE"))
	if string(licence) != readFile(t, "LICENSE") || !strings.Contains(string(notices), "==== Go: LICENSE") || !strings.Contains(string(notices), "==== github.com/caddyserver/caddy/v2 ") {
		t.Errorf("licences: %.80q, %.80q", licence, notices)
	}
	var modules struct {
		Components []struct{ Name, Version string }
	}
	list, err := os.ReadFile(filepath.Join(dir, "release/files", name+".cdx.json"))
	err = errors.Join(err, json.Unmarshal(list, &modules))
	if err != nil || len(modules.Components) < 100 || modules.Components[0].Version != runtime.Version() {
		t.Errorf("modules in the program: %v %d", err, len(modules.Components))
	}
	if out, err := exec.Command(program, "robots", "--version").CombinedOutput(); err != nil || !strings.Contains(string(out), testTag) {
		t.Errorf("caddy robots --version: %v %s, want %s", err, out, testTag)
	}
	gh := `#!/bin/sh
echo "$@" >../gh
`
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "bin"), 0o755), os.WriteFile(filepath.Join(dir, "bin/gh"), []byte(gh), 0o755)); err != nil {
		t.Fatal(err)
	}
	for tag, kind := range map[string]string{testTag: "--latest", "v1.0.0-rc.1": "--prerelease"} {
		if out, err := step(t, "release", "publish", tag, "RUNNER_TEMP="+dir, "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH")); err != nil {
			t.Fatalf("publish: %v\n%s", err, out)
		}
		want := "release create " + tag + " --verify-tag " + kind + " --title " + tag + " --notes-file notes.md files/SHA256SUMS files/" + name + ".cdx.json " + archive + "\n"
		if got, _ := os.ReadFile(filepath.Join(dir, "gh")); string(got) != want {
			t.Errorf("gh %s, want %s", got, want)
		}
	}
	t.Run("image", testImage)
	t.Run("service", func(t *testing.T) { testService(t, program) })
}
