package release

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// root is the root of the repository.
const root = "../.."

// workflow is the part of a workflow of GitHub Actions that the tests read.
type workflow struct {
	Permissions map[string]string `yaml:"permissions"`
	Jobs        map[string]struct {
		Container struct {
			Image string `yaml:"image"`
		} `yaml:"container"`
		Permissions map[string]string `yaml:"permissions"`
		Needs       []string          `yaml:"needs"`
		Uses        string            `yaml:"uses"`
		Steps       []struct {
			Name string            `yaml:"name"`
			Uses string            `yaml:"uses"`
			Run  string            `yaml:"run"`
			With map[string]any    `yaml:"with"`
			Env  map[string]string `yaml:"env"`
		} `yaml:"steps"`
	} `yaml:"jobs"`
}

// readWorkflow reads a file in .github/workflows.
func readWorkflow(t *testing.T, name string) *workflow {
	t.Helper()
	var w workflow
	if err := yaml.Unmarshal([]byte(readFile(t, filepath.Join(".github/workflows", name))), &w); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return &w
}

// readFile returns the text of a file of the repository.
func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A tag of an action can be moved to other code, a commit can't. The comment says
// which version it is.
func TestActionsArePinned(t *testing.T) {
	t.Parallel()
	pinned := regexp.MustCompile(`^[\w-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	files, _ := filepath.Glob(filepath.Join(root, ".github/workflows/*"))
	found := 0
	for _, file := range files {
		name := filepath.Base(file)
		for _, m := range regexp.MustCompile(`\buses:[ \t]*(.*)`).FindAllStringSubmatch(readFile(t, filepath.Join(".github/workflows", name)), -1) {
			found++
			if !pinned.MatchString(m[1]) && !strings.HasPrefix(m[1], "./.github/workflows/") {
				t.Errorf("%s: uses: %s, want OWNER/NAME@COMMIT # vMAJOR.MINOR.PATCH", name, m[1])
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d actions were found", found)
	}
}

// The tag of an image can be moved, too.
func TestImagesArePinned(t *testing.T) {
	t.Parallel()
	pinned := regexp.MustCompile(`^[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}$`)
	images := []string{readWorkflow(t, "test.yml").Jobs["test"].Container.Image}
	for _, m := range regexp.MustCompile(`(?m)^FROM (?:--\S+ )*(\S+)`).FindAllStringSubmatch(readFile(t, "Dockerfile"), -1) {
		images = append(images, m[1])
	}
	if len(images) < 3 {
		t.Errorf("only %d images were found", len(images))
	}
	for _, image := range images {
		if !pinned.MatchString(image) {
			t.Errorf("%q, want NAME:TAG@sha256:DIGEST", image)
		}
	}
}

// No job may do more than its steps need, and no step but the last ones of a
// release can change anything.
func TestWorkflowPermissions(t *testing.T) {
	t.Parallel()
	for name, writes := range map[string]map[string][]string{
		"test.yml":    {},
		"fuzz.yml":    {},
		"release.yml": {"image": {"packages"}, "release": {"attestations", "contents", "id-token"}},
	} {
		w := readWorkflow(t, name)
		if w.Permissions == nil {
			t.Errorf("%s: no permissions, so those of the repository's settings", name)
		}
		for _, granted := range w.Permissions {
			if granted != "read" {
				t.Errorf("%s: permissions of all jobs: %v", name, w.Permissions)
			}
		}
		for id, job := range w.Jobs {
			for scope, granted := range job.Permissions {
				if granted != "read" && !slices.Contains(writes[id], scope) {
					t.Errorf("%s: the job %s may %s %s", name, id, granted, scope)
				}
			}
			for _, step := range job.Steps {
				if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != false {
					t.Errorf("%s: the job %s leaves the token in the clone", name, id)
				}
			}
			if id == "image" && (len(job.Needs) < 2 || w.Jobs["test"].Uses == "") {
				t.Errorf("the image is pushed after %s, want tests and the build", job.Needs)
			}
		}
	}
}

// Dockerfile and workflows build with the minor version of Go in go.mod.
func TestGoVersions(t *testing.T) {
	t.Parallel()
	want := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(readFile(t, "go.mod"))[1]
	found := 0
	for _, name := range []string{"Dockerfile", ".github/workflows/test.yml", ".github/workflows/fuzz.yml", ".github/workflows/release.yml"} {
		for _, m := range regexp.MustCompile(`(?:golang:|go-version: )(\d+\.\d+)`).FindAllStringSubmatch(readFile(t, name), -1) {
			if found++; m[1] != want {
				t.Errorf("%s: Go %s, and go.mod has %s", name, m[1], want)
			}
		}
	}
	if found < 5 {
		t.Errorf("only %d versions were found", found)
	}
}
