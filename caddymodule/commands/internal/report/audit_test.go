package report

import (
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/audit"
)

// Each line that never applied is shown once, also if it is in several groups. Rules
// of a policy in JSON have no line numbers.
func TestAuditShowsUnusedRulesOnce(t *testing.T) {
	r := &audit.Report{Requests: 1, Sources: []audit.Source{{Name: "robots.txt", State: "loaded"}}, RobotsLines: []audit.Line{
		{Layer: "file", Line: 2, TextLine: 2, Text: "Disallow: /a", Why: "nobody came"},
		{Layer: "file", Line: 2, TextLine: 9, Text: "Disallow: /a"},
		{Layer: "file", Line: 3, TextLine: 3, Text: "Disallow: /b", Applied: 1},
		{Layer: "file", Line: 3, TextLine: 10, Text: "Disallow: /b"},
		{Layer: "policy", Line: 7, File: "Caddyfile", TextLine: 12, Text: "Disallow: /"},
		{Layer: "policy", TextLine: 14, Text: "Disallow: /c"},
		{Layer: "policy", TextLine: 15, Text: "Disallow: /d"},
	}}
	var out strings.Builder
	if err := Audit(&out, r, false); err != nil {
		t.Fatal(err)
	}
	const want = `
           line  rule that never applied  why
              2  Disallow: /a             nobody came
    Caddyfile:7  Disallow: /
  configuration  Disallow: /c
  configuration  Disallow: /d
`
	if !strings.Contains(out.String(), want) {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}
