package managed

import (
	"bytes"
	"encoding/json"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/robots"
)

// pair is a site's file before and after a policy was merged into it.
type pair struct {
	Name   string   `json:"name"`
	Before string   `json:"before"`
	After  string   `json:"after"`
	Denied []string `json:"denied"` // tokens that the policy denies, without those that have a group of their own
}

// A parser that this project does not share reads merged files: nothing changes
// for crawlers outside the policy, and those inside are denied.
func TestMergedFilesInPythonsParser(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	registry := crawler.Builtin()
	lines, err := corpusPolicies["no-ai"].Compile(registry)
	if err != nil {
		t.Fatal(err)
	}
	var cases struct {
		Pairs   []pair   `json:"pairs"`
		Outside []string `json:"outside"`
		Inside  []string `json:"inside"`
		Paths   []string `json:"paths"`
	}
	cases.Paths = []string{"/", "/cgi-bin/open"}
	for row := range registry.All() {
		switch token := first(row); {
		case !nameable(token) || lines.owner(row) != row:
		case lines.covers[row.Index()].both.any():
			cases.Inside = append(cases.Inside, token)
		default:
			cases.Outside = append(cases.Outside, token)
		}
	}
	files := realFiles(t)
	files["without a file"] = nil
	for _, name := range slices.Sorted(maps.Keys(files)) {
		m, err := lines.Merge(files[name], new(judge.Settings))
		if err != nil {
			t.Logf("%s: %v", name, err)
			continue
		}
		p := pair{Name: name, Before: string(files[name]), After: string(m.Text())}
		for row := range registry.All() {
			isInside := lines.covers[row.Index()].both.any() && slices.Contains(cases.Inside, first(row))
			if isInside && lines.ownGroup(robots.Parse(files[name]), row) == nil {
				p.Denied = append(p.Denied, first(row))
			}
		}
		cases.Pairs = append(cases.Pairs, p)
	}
	in, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "testdata/robotparser.py")
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.CombinedOutput()
	text := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || !strings.HasSuffix(text[len(text)-1], " paths") {
		t.Fatalf("%v\n%s", err, out)
	}
	for i, line := range text[:len(text)-1] {
		if t.Error(line); i == 20 {
			t.Fatalf("and %d more", len(text)-i)
		}
	}
	t.Log(text[len(text)-1])
}
