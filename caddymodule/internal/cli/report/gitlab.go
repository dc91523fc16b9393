package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// local reports whether the document is a file, not a URL or standard input.
func (d *Document) local() bool { return d.Name != "-" && !strings.Contains(d.Name, "://") }

// GitLab writes the findings in several files as a Code Quality report. GitLab shows
// it in merge requests.
func GitLab(w io.Writer, docs []*Document) error {
	issues := []object{}
	for _, d := range docs {
		seen := map[string]int{}
		path := d.Name
		if d.local() {
			path = filepath.ToSlash(filepath.Clean(d.Name))
		}
		for i := range d.Findings {
			f := &d.Findings[i]
			what := fmt.Sprintf("%s\n%s\n%s", d.Name, f.Code, f.Text)
			seen[what]++
			sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d", what, seen[what]))
			issues = append(issues, object{
				"description": valid(f.Message), "check_name": f.Code,
				"fingerprint": hex.EncodeToString(sum[:16]), // identifies the finding; it does not depend on the line number
				"severity":    [...]string{lint.Info: "info", lint.Warning: "minor", lint.Error: "major"}[min(f.Severity, lint.Error)],
				"location":    object{"path": path, "lines": object{"begin": f.Line}},
			})
		}
	}
	enc := NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(issues)
}
