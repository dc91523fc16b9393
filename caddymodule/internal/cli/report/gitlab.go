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

// gitlabIssue is an entry of a Code Quality report of GitLab.
type gitlabIssue struct {
	Description string         `json:"description"`
	Check       string         `json:"check_name"`
	Fingerprint string         `json:"fingerprint"` // identifies the finding; it does not depend on the line number
	Severity    string         `json:"severity"`
	Location    gitlabLocation `json:"location"`
}

type gitlabLocation struct {
	Path  string `json:"path"`
	Lines struct {
		Begin int `json:"begin"`
	} `json:"lines"`
}

// local reports whether the document is a file, not a URL or standard input.
func (d *Document) local() bool { return d.Name != "-" && !strings.Contains(d.Name, "://") }

// GitLab writes the findings in several files as a Code Quality report. GitLab shows
// it in merge requests.
func GitLab(w io.Writer, docs []*Document) error {
	issues := []gitlabIssue{}
	for _, d := range docs {
		seen := map[string]int{}
		for i := range d.Findings {
			f := &d.Findings[i]
			what := fmt.Sprintf("%s\n%s\n%s", d.Name, f.Code, f.Text)
			seen[what]++
			sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d", what, seen[what]))
			issue := gitlabIssue{
				Description: valid(f.Message), Check: f.Code, Fingerprint: hex.EncodeToString(sum[:16]),
				Severity: [...]string{lint.Info: "info", lint.Warning: "minor", lint.Error: "major"}[min(f.Severity, lint.Error)],
				Location: gitlabLocation{Path: d.Name},
			}
			if d.local() {
				issue.Location.Path = filepath.ToSlash(filepath.Clean(d.Name))
			}
			issue.Location.Lines.Begin = f.Line
			issues = append(issues, issue)
		}
	}
	enc := NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(issues)
}
