package visitors

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"strings"
	"testing"
)

// Browsers apply the style only if its hash is that of the policy.
func TestPolicyAllowsTheStyle(t *testing.T) {
	var page bytes.Buffer
	if err := pageTemplate.Execute(&page, pageData{template.CSS(pageStyle), `?a="&b=1`}); err != nil {
		t.Fatal(err)
	}
	_, style, _ := strings.Cut(page.String(), "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	sum := sha256.Sum256([]byte(style))
	if hash := base64.StdEncoding.EncodeToString(sum[:]); len(style) < 100 || !strings.Contains(pageCSP, "'sha256-"+hash+"'") {
		t.Errorf("the policy %s does not allow the style %q", pageCSP, style)
	}
	if !strings.Contains(page.String(), `action="?a=%22&amp;b=1"`) {
		t.Errorf("the form has no escaped action:\n%s", page.String())
	}
}
