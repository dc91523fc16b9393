package release

import (
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

// step runs a step of the release as GitHub's runner does, for a tag and with
// more of the environment. It returns what it printed.
func step(t *testing.T, job, name, tag string, env ...string) (string, error) {
	t.Helper()
	for _, s := range readWorkflow(t, "release.yml").Jobs[job].Steps {
		if s.Name != name {
			continue
		}
		cmd := exec.Command("bash", "-e", "-c", s.Run)
		cmd.Dir, cmd.Env = root, os.Environ()
		for key, value := range s.Env {
			cmd.Env = append(cmd.Env, key+"="+value)
		}
		cmd.Env = append(append(cmd.Env, "GITHUB_REF_NAME="+tag, "GITHUB_REPOSITORY=caddy-robots/caddy-robots"), env...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	t.Fatalf("the job %s has no step %s", job, name)
	return "", nil
}

// The tags of an image: latest is the latest release.
func TestImageTags(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{
		"v0.2.0":      "tags=ghcr.io/caddy-robots/caddy-robots:0.2.0,ghcr.io/caddy-robots/caddy-robots:latest\n",
		"v0.3.0-rc.1": "tags=ghcr.io/caddy-robots/caddy-robots:0.3.0-rc.1\n",
	} {
		output := filepath.Join(t.TempDir(), "output")
		if out, err := step(t, "image", "tags", tag, "GITHUB_OUTPUT="+output); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if got, _ := os.ReadFile(output); string(got) != want {
			t.Errorf("%s: %s, want %s", tag, got, want)
		}
	}
}

// A release has the changelog's section of its version, programs that know it, and
// their checksums. The program gh is a double, which only notes its arguments. The
// image and the service are tested after it, with what it has compiled.
func TestRelease(t *testing.T) {
	dir := t.TempDir()
	if out, err := step(t, "build", "notes", "v0.0.1", "RUNNER_TEMP="+t.TempDir()); err == nil {
		t.Errorf("notes of a version that is not in the changelog: %s", out)
	}
	if out, err := step(t, "build", "notes", "v0.1.0", "RUNNER_TEMP="+dir); err != nil {
		t.Fatalf("notes: %v\n%s", err, out)
	}
	notes, _ := os.ReadFile(filepath.Join(dir, "release/notes.md"))
	if !strings.Contains(string(notes), "The first version") || strings.Contains(string(notes), "\n## ") {
		t.Errorf("notes of the release:\n%s", notes)
	}
	if out, err := step(t, "build", "build", testTag, "RUNNER_TEMP="+dir, "TARGETS=linux/"+runtime.GOARCH); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	program := "files/caddy-robots_" + testTag + "_linux_" + runtime.GOARCH
	check := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	check.Dir = filepath.Join(dir, "release/files")
	if out, err := check.CombinedOutput(); err != nil || !strings.Contains(string(out), filepath.Base(program)+": OK") {
		t.Errorf("checksums: %v\n%s", err, out)
	}
	if out, err := exec.Command(filepath.Join(dir, "release", program), "robots", "--version").CombinedOutput(); err != nil || !strings.Contains(string(out), testTag) {
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
		want := "release create " + tag + " --verify-tag " + kind + " --title " + tag + " --notes-file notes.md files/SHA256SUMS " + program + "\n"
		if got, _ := os.ReadFile(filepath.Join(dir, "gh")); string(got) != want {
			t.Errorf("gh %s, want %s", got, want)
		}
	}
	t.Run("image", testImage)
	t.Run("service", func(t *testing.T) { testService(t, filepath.Join(dir, "release", program)) })
}
