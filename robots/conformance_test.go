package robots

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// corpusFolder returns the folder of the conformance cases of other suites.
// These are not a part of the project; the environment variable ROBOTS_CORPUS
// names the folder. Without it, only the cases of the project are tested
// (TestVectors).
func corpusFolder(t *testing.T) (string, bool) {
	t.Helper()
	dir := os.Getenv("ROBOTS_CORPUS")
	if dir == "" {
		t.Log("ROBOTS_CORPUS is not set: no case of other suites is tested; TestVectors tests the cases of the project")
		return "", false
	}
	return dir, true
}

func readLines[T any](t *testing.T, path string) []T {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var rows []T
	sc := bufio.NewScanner(file)
	sc.Buffer(nil, 16<<20)
	for sc.Scan() {
		var row T
		if err := json.Unmarshal(sc.Bytes(), &row); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		rows = append(rows, row)
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// caseText is the text of a robots.txt, in base64 if B64 is set.
type caseText struct {
	Robots string `json:"robots"`
	B64    bool   `json:"robots_b64"`
}

func (c caseText) bytes(t *testing.T) []byte {
	if !c.B64 {
		return []byte(c.Robots)
	}
	data, err := base64.StdEncoding.DecodeString(c.Robots)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The cases of other suites have the expected verdicts, those of google/robotstxt also by its reading.
func TestConformanceVerdicts(t *testing.T) {
	dir, ok := corpusFolder(t)
	if !ok {
		return
	}
	type row struct {
		caseText
		Agent, Path, Suite, ID, Note, Aside string
		Allowed                             bool
	}
	var views Views
	rows := readLines[row](t, filepath.Join(dir, "robots-cases.jsonl"))
	for _, c := range rows {
		text := c.bytes(t)
		g := Parse(text).Group(c.Agent)
		letter := g.Match(c.Path)
		views.Reset(c.Path, ViewOptions{})
		both := g.MatchViews(&views)
		if letter.Allowed != c.Allowed || both.Allowed != c.Allowed && c.Aside != "denied-as-served" {
			t.Errorf("%s %s: %q for %q: Match = %v, MatchViews = %v, want %v (%s %s)\n%s",
				c.Suite, c.ID, c.Path, c.Agent, letter, both, c.Allowed, c.Note, c.Aside, text)
		}
		if strings.HasPrefix(c.Suite, "google-") && c.Suite != "google-docs" {
			if v := Parse(text, WithDialect(Google)).Group(c.Agent).Match(c.Path); v.Allowed != c.Allowed {
				t.Errorf("%s %s: %q for %q: allowed %v by Google's reading, want %v\n%s", c.Suite, c.ID, c.Path, c.Agent, v.Allowed, c.Allowed, text)
			}
		}
	}
	t.Logf("verdicts: %d cases", len(rows))
}

func TestConformanceRealFiles(t *testing.T) {
	dir, ok := corpusFolder(t)
	if !ok {
		return
	}
	type row struct {
		File, Agent, Path string
		Allowed           bool
	}
	files := map[string]*File{}
	passed, all := 0, 0
	var views Views
	for _, c := range readLines[row](t, filepath.Join(dir, "real-robots-probes.jsonl")) {
		f := files[c.File]
		if f == nil {
			data, err := os.ReadFile(filepath.Join(dir, "real-robots", c.File))
			if err != nil {
				t.Fatal(err)
			}
			f = Parse(data)
			files[c.File] = f
		}
		all++
		g := f.Group(c.Agent)
		v := g.Match(c.Path)
		views.Reset(c.Path, ViewOptions{})
		both := g.MatchViews(&views)
		if v.Allowed != c.Allowed {
			t.Errorf("%s: Match(%q) for %q = %v by line %d, want %v", c.File, c.Path, c.Agent, v.Allowed, v.Rule().Line, c.Allowed)
			continue
		}
		if both.Allowed != v.Allowed && !both.Allowed {
			t.Logf("%s: %q for %q is disallowed as served, by line %d", c.File, c.Path, c.Agent, both.Rule().Line)
		}
		passed++
	}
	t.Logf("real files: %d of %d probes have the expected result", passed, all)
}
