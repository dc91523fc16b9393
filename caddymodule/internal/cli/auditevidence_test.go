package cli_test

import (
	"bytes"
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
	if status, _, stderr := runCommand("", args...); status != 1 || !strings.Contains(stderr, "file exists") {
		t.Errorf("a second time: status %d, %s", status, stderr)
	}
	if again, err := os.ReadFile(out + ".txt"); err != nil || !bytes.Equal(again, texts[".txt"]) {
		t.Errorf("the file was replaced, or %v", err)
	}
}
