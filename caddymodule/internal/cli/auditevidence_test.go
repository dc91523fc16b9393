package cli_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/audit/evidence"
)

// --evidence writes text, JSON and X-ARF that only their owner can read, and replaces no file.
func TestAuditEvidence(t *testing.T) {
	out := filepath.Join(t.TempDir(), "case")
	args := []string{"audit", "--evidence", "gptbot", "--out", out, "--reporter", "Example Hosting <abuse@example.com>", filepath.Join(commandsFolder, "decided.log")}
	status, stdout, stderr := runCommand("", args...)
	if status != 0 || !strings.HasPrefix(stdout, "Confirmed as GPTBot's: 1 of the 2 addresses ") || !strings.Contains(stdout, out+".txt") {
		t.Fatalf("status %d\n%s%s", status, stdout, stderr)
	}
	texts := make(map[string][]byte)
	for _, ending := range []string{".txt", ".json", ".xarf.jsonl"} {
		info, err := os.Stat(out + ending)
		if err != nil || info.Mode() != 0o600 {
			t.Fatalf("%v, %v", info, err)
		}
		texts[ending], _ = os.ReadFile(out + ending)
		for _, word := range []string{"secret", "ref.example", "a=b", "proof"} {
			if bytes.Contains(texts[ending], []byte(word)) {
				t.Errorf("%s has %q", ending, word)
			}
		}
	}
	v := new(evidence.Evidence)
	if err := json.Unmarshal(texts[".json"], v); err != nil || v.Disallowed != 1 || v.Summary == "" {
		t.Errorf("%v, %+v", err, v)
	}
	for _, want := range []string{v.Summary + "\n", "abuse desk", "at the latest on " + v.DeleteBy, "clock ", "What this document can't show",
		"2026-11-23T14:03:08.249Z  20.171.207.5  40002     403  GET /private/x?q=…", v.Logs[0].SHA256, "confirmed as the crawler's"} {
		if !strings.Contains(string(texts[".txt"]), want) {
			t.Errorf("the text has no %q:\n%s", want, texts[".txt"])
		}
	}
	if !strings.HasPrefix(string(texts[".txt"]), v.Summary) || bytes.Count(texts[".xarf.jsonl"], []byte("\n")) != 1 {
		t.Errorf("%s%s", texts[".txt"], texts[".xarf.jsonl"])
	}
	checkPersist(t, v.RobotsTxt[0].Version)
	if status, _, stderr := runCommand("", args...); status != 1 || !strings.Contains(stderr, "file exists") {
		t.Errorf("a second time: status %d, %s", status, stderr)
	}
	if again, err := os.ReadFile(out + ".txt"); err != nil || !bytes.Equal(again, texts[".txt"]) {
		t.Errorf("the file was replaced, or %v", err)
	}
}

// The file of persist gives the texts of versions. A file that is none is an error.
func checkPersist(t *testing.T, version string) {
	t.Helper()
	folder := t.TempDir()
	persist, out := filepath.Join(folder, "robots.json"), filepath.Join(folder, "case")
	run := func(text string) (int, string) {
		if err := os.WriteFile(persist, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		status, _, stderr := runCommand("", "audit", "--evidence", "gptbot", "--persist", persist, "--out", out, filepath.Join(commandsFolder, "decided.log"))
		return status, stderr
	}
	if status, stderr := run(`{"version":1,"texts":7}`); status != 1 || !strings.Contains(stderr, "--persist") {
		t.Errorf("a damaged file: status %d, %s", status, stderr)
	}
	if status, stderr := run(`{"version":1,"texts":{"` + version + `":{"text":"User-agent: *\n","last":1}}}`); status != 0 {
		t.Fatalf("status %d, %s", status, stderr)
	}
	v := new(evidence.Evidence)
	text, err := os.ReadFile(out + ".json")
	if err := cmp.Or(err, json.Unmarshal(text, v)); err != nil {
		t.Fatal(err)
	}
	if got := v.RobotsTxt[0]; got.Text != "User-agent: *\n" || got.Name != persist || got.SHA256 == "" {
		t.Errorf("%+v", got)
	}
}
