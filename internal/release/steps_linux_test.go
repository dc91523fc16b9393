package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

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

// The text of a release is the changelog's section of its version.
func TestNotes(t *testing.T) {
	t.Parallel()
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
}
