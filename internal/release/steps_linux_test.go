package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// step runs a step of the release as GitHub's runner does, for a tag and with
// more of the environment. It returns what it printed.
func step(t *testing.T, job, name, tag string, env ...string) (string, error) {
	t.Helper()
	return stepIn(t, root, job, name, tag, env...)
}

// stepIn is step, in another folder than the repository.
func stepIn(t *testing.T, dir, job, name, tag string, env ...string) (string, error) {
	t.Helper()
	for _, s := range readWorkflow(t, "release.yml").Jobs[job].Steps {
		if s.Name != name {
			continue
		}
		cmd := exec.Command("bash", "-e", "-c", s.Run)
		cmd.Dir, cmd.Env = dir, os.Environ()
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

// The text of a release is the changelog's section of its version. A version without
// one is refused, and one without a date.
func TestNotes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	changelog := "# Changelog\n\n## 0.3.0 (unreleased)\n\nNew\n\n## 0.2.0 (2027-01-31)\n\nText\n\n## 0.1.0 (2026-12-01)\n\nThe first version\n"
	if err := os.WriteFile(filepath.Join(dir, "CHANGELOG.md"), []byte(changelog), 0o644); err != nil {
		t.Fatal(err)
	}
	for tag, want := range map[string]string{"v0.2.0": "\nText\n\n", "v0.1.0": "\nThe first version\n", "v0.3.0": "", "v0.2": "", "v0.2.1": ""} {
		temp := t.TempDir()
		out, err := stepIn(t, dir, "build", "notes", tag, "RUNNER_TEMP="+temp)
		if want == "" {
			if err == nil || !strings.Contains(out, "no section ## "+tag[1:]+" (") {
				t.Errorf("%s: %v %s, want a refusal", tag, err, out)
			}
			continue
		}
		if notes, _ := os.ReadFile(filepath.Join(temp, "release/notes.md")); err != nil || string(notes) != want {
			t.Errorf("%s: %v %s: notes %q, want %q", tag, err, out, notes, want)
		}
	}
	// The changelog itself has the form that the step reads.
	for heading := range strings.Lines(readFile(t, "CHANGELOG.md")) {
		if strings.HasPrefix(heading, "## ") && !regexp.MustCompile(`^## \d+\.\d+\.\d+ \((unreleased|\d{4}-\d\d-\d\d)\)\n$`).MatchString(heading) {
			t.Errorf("CHANGELOG.md: %s", heading)
		}
	}
}
