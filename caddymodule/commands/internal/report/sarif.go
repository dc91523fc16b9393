package report

import (
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/output"
	"github.com/caddy-robots/caddy-robots/internal/words"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// object is an object of SARIF 2.1.0, with the names that the standard gives its
// members. The libraries for it write members that say something else when they are
// left at zero (byteOffset, charOffset), and bring a JSON schema validator into the
// server.
type object = map[string]any

// message returns an object with a text.
func message(text string) object { return object{"text": valid(text)} }

// SARIF writes the findings in several files as one log in the Static Analysis
// Results Interchange Format 2.1.0 (OASIS). Code hosts show it beside the lines of the
// files. Columns are counted in code points. version is the version of the tool.
// failures has the errors of files that could not be read.
func SARIF(w io.Writer, version string, docs []*Document, failures []error) error {
	var rules []object
	indexes := map[string]int{}
	for i, k := range lint.Checks() {
		indexes[k.Code] = i
		rules = append(rules, object{
			"id": k.Code, "shortDescription": message(k.Title), "fullDescription": message(k.Why),
			"helpUri":              "https://github.com/caddy-robots/caddy-robots/blob/main/docs/lint-checks.md#" + k.Code,
			"help":                 object{"text": k.Page(), "markdown": k.Page()},
			"defaultConfiguration": object{"level": level(k.Severity)},
		})
	}
	driver := object{"name": "caddy-robots", "informationUri": "https://github.com/caddy-robots/caddy-robots", "version": version,
		"rules": rules}
	results := []object{}
	for _, d := range docs {
		lines := d.lines()
		for i := range d.Findings {
			f := &d.Findings[i]
			results = append(results, sarifResult(d.Name, f, indexes[f.Code], lines))
		}
	}
	run := object{
		"tool": object{"driver": driver}, "results": results,
		"columnKind": "unicodeCodePoints", "newlineSequences": []string{"\r\n", "\n", "\r"},
	}
	if len(failures) > 0 {
		notifications := words.Map(failures, func(err error) object { return object{"level": "error", "message": message(err.Error())} })
		run["invocations"] = []object{{"executionSuccessful": false, "toolExecutionNotifications": notifications}}
	}
	return output.WriteJSON(w, object{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": []object{run}})
}

// level returns the name of a severity in SARIF (section 3.27.10).
func level(s lint.Severity) string {
	return [...]string{lint.Info: "note", lint.Warning: "warning", lint.Error: "error"}[min(s, lint.Error)]
}

func sarifResult(name string, f *lint.Finding, rule int, lines map[int]robots.Line) object {
	line := lines[f.Line]
	region := object{"startLine": f.Line}
	place := object{"artifactLocation": artifact(name), "region": region}
	found := isOn(f, &line)
	if found {
		from := f.Column - 1
		start := utf8.RuneCountInString(strings.TrimPrefix(line.Raw[:from], byteOrderMark)) + 1
		region["startColumn"] = start
		region["endColumn"] = start + utf8.RuneCountInString(line.Raw[from:from+len(f.Text)])
		if line.Raw != "" {
			place["contextRegion"] = object{"startLine": f.Line, "snippet": message(newExcerpt(line.Raw, from, from).text)}
		}
	}
	r := object{
		"ruleId": f.Code, "ruleIndex": rule, "level": level(f.Severity), "message": message(f.Message + ": " + f.Why),
		"locations": []object{{"physicalLocation": place}},
	}
	if f.Related > 0 {
		related := object{"artifactLocation": artifact(name), "region": object{"startLine": f.Related}}
		r["relatedLocations"] = []object{{"id": 1, "physicalLocation": related}}
	}
	if found && isReplaceable(f) {
		replacement := object{"deletedRegion": region, "insertedContent": message(*f.Replacement)}
		r["fixes"] = []object{{
			"description":     message("write " + *f.Replacement),
			"artifactChanges": []object{{"artifactLocation": artifact(name), "replacements": []object{replacement}}},
		}}
	}
	return r
}

// isReplaceable reports whether a finding has a replacement for the whole text that was
// found. A text that was cut or is not valid UTF-8 can't be replaced.
func isReplaceable(f *lint.Finding) bool {
	return f.Replacement != nil && *f.Replacement != "" && f.Text != "" && len(f.Text) < lint.MaxText && utf8.ValidString(f.Text)
}

// byteOrderMark is not counted as a column (section 3.30.4).
const byteOrderMark = "\ufeff"

// valid returns s as valid UTF-8, which JSON requires.
func valid(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

// artifact returns the name of a file in SARIF: its URL, or its path relative to the
// root of the repository.
func artifact(name string) object {
	switch {
	case name == "-":
		return object{"uri": "stdin"}
	case strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://"):
		return object{"uri": name}
	}
	path := filepath.ToSlash(filepath.Clean(name))
	if filepath.IsAbs(name) {
		if path[0] != '/' {
			path = "/" + path
		}
		return object{"uri": (&url.URL{Scheme: "file", Path: path}).String()}
	}
	return object{"uri": (&url.URL{Path: path}).String(), "uriBaseId": "%SRCROOT%"}
}
