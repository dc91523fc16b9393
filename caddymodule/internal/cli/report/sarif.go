package report

import (
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// SARIF writes the findings in several files as one log in the Static Analysis
// Results Interchange Format 2.1.0 (OASIS). Code hosts show it beside the lines of the
// files. Columns are counted in code points. version is the version of the tool, ""
// if it has none. failures has the errors of files that could not be read.
func SARIF(w io.Writer, version string, docs []*Document, failures []error) error {
	log := sarifLog{
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Version: "2.1.0",
		Runs: []sarifRun{{
			Tool: sarifTool{Driver: sarifDriver{
				Name: "caddy-robots", Version: version,
				InformationURI: "https://github.com/caddy-robots/caddy-robots",
			}},
			ColumnKind:       "unicodeCodePoints",
			NewlineSequences: []string{"\r\n", "\n", "\r"},
			Results:          []sarifResult{},
		}},
	}
	run := &log.Runs[0]
	rules := map[string]int{}
	for i, k := range lint.Checks() {
		rules[k.Code] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
			ID: k.Code, Short: sarifText{k.Title}, Full: sarifText{k.Why}, HelpURI: helpURI(k.Code), Help: sarifHelp{Text: k.Page(), Markdown: k.Page()},
			Default: sarifConfiguration{level(k.Severity)},
		})
	}
	if len(failures) > 0 {
		failed := sarifInvocation{}
		for _, err := range failures {
			failed.Notifications = append(failed.Notifications, sarifNotification{Level: "error", Message: sarifText{valid(err.Error())}})
		}
		run.Invocations = []sarifInvocation{failed}
	}
	for _, d := range docs {
		lines := d.lines()
		for i := range d.Findings {
			f := &d.Findings[i]
			run.Results = append(run.Results, newSARIFResult(d.Name, f, rules[f.Code], lines))
		}
	}
	enc := NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(log)
}

// helpURI returns the URL of the page about a rule.
func helpURI(code string) string {
	return "https://github.com/caddy-robots/caddy-robots/blob/main/docs/lint-checks.md#" + code
}

// level returns the name of a severity in SARIF (section 3.27.10).
func level(s lint.Severity) string {
	return [...]string{lint.Info: "note", lint.Warning: "warning", lint.Error: "error"}[min(s, lint.Error)]
}

func newSARIFResult(name string, f *lint.Finding, rule int, lines map[int]robots.Line) sarifResult {
	line := lines[f.Line]
	region := sarifRegion{StartLine: f.Line}
	at := sarifPhysical{Artifact: artifact(name), Region: &region}
	if isOn(f, &line) {
		from := f.Column - 1
		region.StartColumn = codePoints(strings.TrimPrefix(line.Raw[:from], byteOrderMark)) + 1
		region.EndColumn = region.StartColumn + codePoints(line.Raw[from:from+len(f.Text)])
		if line.Raw != "" {
			at.Context = &sarifRegion{StartLine: f.Line, Snippet: &sarifText{newExcerpt(line.Raw, from, from).text}}
		}
	}
	r := sarifResult{
		RuleID: f.Code, RuleIndex: rule, Level: level(f.Severity),
		Message:   sarifText{valid(f.Message) + ": " + f.Why},
		Locations: []sarifLocation{{Physical: at}},
	}
	if f.Related > 0 {
		r.Related = []sarifLocation{{ID: 1, Physical: sarifPhysical{
			Artifact: at.Artifact, Region: &sarifRegion{StartLine: f.Related},
		}}}
	}
	if fix, ok := newSARIFFix(f, &region); ok {
		fix.Changes[0].Artifact = at.Artifact
		r.Fixes = []sarifFix{fix}
	}
	return r
}

// newSARIFFix returns the replacement of a finding as a SARIF fix. It returns false if
// there is no replacement, or if the text to replace was cut, is not valid UTF-8 or is
// not on the line.
func newSARIFFix(f *lint.Finding, region *sarifRegion) (sarifFix, bool) {
	if f.Replacement == nil || *f.Replacement == "" || f.Text == "" || region.StartColumn == 0 ||
		len(f.Text) >= lint.MaxText || !utf8.ValidString(f.Text) {
		return sarifFix{}, false
	}
	return sarifFix{
		Description: sarifText{"write " + valid(*f.Replacement)},
		Changes: []sarifChange{{Replacements: []sarifReplacement{{
			Deleted: *region, Inserted: sarifText{valid(*f.Replacement)},
		}}}},
	}, true
}

// byteOrderMark is not counted as a column (section 3.30.4).
const byteOrderMark = "\ufeff"

func codePoints(s string) int { return utf8.RuneCountInString(s) }

// valid returns s as valid UTF-8, which JSON requires.
func valid(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

// artifact returns the name of a file in SARIF: its URL, or its path relative to the
// root of the repository.
func artifact(name string) sarifArtifact {
	switch {
	case name == "-":
		return sarifArtifact{URI: "stdin"}
	case strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://"):
		return sarifArtifact{URI: name}
	}
	path := filepath.ToSlash(filepath.Clean(name))
	if filepath.IsAbs(name) {
		if path[0] != '/' {
			path = "/" + path
		}
		return sarifArtifact{URI: (&url.URL{Scheme: "file", Path: path}).String()}
	}
	return sarifArtifact{URI: (&url.URL{Path: path}).String(), Base: "%SRCROOT%"}
}

// The parts of SARIF 2.1.0 that are used here, by the names that the standard
// gives them. The libraries for it write fields that say something else when
// they are left at zero (byteOffset, charOffset), and bring a JSON schema
// validator into the server.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool             sarifTool         `json:"tool"`
		Invocations      []sarifInvocation `json:"invocations,omitempty"`
		ColumnKind       string            `json:"columnKind"`
		NewlineSequences []string          `json:"newlineSequences"`
		Results          []sarifResult     `json:"results"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications"`
	}
	sarifNotification struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string             `json:"id"`
		Short   sarifText          `json:"shortDescription"`
		Full    sarifText          `json:"fullDescription"`
		HelpURI string             `json:"helpUri"`
		Help    sarifHelp          `json:"help"`
		Default sarifConfiguration `json:"defaultConfiguration"`
	}
	sarifHelp struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown"`
	}
	sarifConfiguration struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
		Related   []sarifLocation `json:"relatedLocations,omitempty"`
		Fixes     []sarifFix      `json:"fixes,omitempty"`
	}
	sarifLocation struct {
		ID       int           `json:"id,omitempty"`
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
		Context  *sarifRegion  `json:"contextRegion,omitempty"`
	}
	sarifArtifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		StartLine   int        `json:"startLine"`
		StartColumn int        `json:"startColumn,omitempty"`
		EndColumn   int        `json:"endColumn,omitempty"`
		Snippet     *sarifText `json:"snippet,omitempty"`
	}
	sarifFix struct {
		Description sarifText     `json:"description"`
		Changes     []sarifChange `json:"artifactChanges"`
	}
	sarifChange struct {
		Artifact     sarifArtifact      `json:"artifactLocation"`
		Replacements []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		Deleted  sarifRegion `json:"deletedRegion"`
		Inserted sarifText   `json:"insertedContent"`
	}
)
