package headersimport

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/caddy-robots/caddy-robots/headers"
)

// Result is the result of Import.
type Result struct {
	// Sites are the servers (nginx) or virtual hosts (Apache) that have entries,
	// in the order of the file.
	Sites []Site
	// Entries are the comments that belong to no site.
	Entries []Entry
	left    int // of maxSteps
}

// Site has the settings of an nginx server or an Apache virtual host, or of several
// that have the same names.
type Site struct {
	// Line is the number of the line at which the site's block begins, 0 for a
	// site outside of all blocks.
	Line int
	// Names are the site's host names, as the configuration writes them.
	Names []string
	// Entries are sorted by line.
	Entries []Entry
	// Policy has deny lines for the crawlers that the server refuses.
	Policy []string
	denied []headerLine // the lines of the configuration for them
	key    string       // the sorted names
}

// Entry is a rule or a comment, and the number of the line of the configuration
// that it is for.
type Entry struct {
	Line    int
	Rule    headers.Setting // the zero value for a comment
	Comment string
	// Missing: the configuration does something that the rules do not. Other
	// comments are about requests for which the rules do more.
	Missing bool
}

// String returns the entry as a line for the robots block of a Caddyfile.
func (e Entry) String() string {
	if e.Comment == "" {
		return "x_robots_tag " + e.Rule.String()
	}
	text := strings.ReplaceAll(e.Comment, "{$", "{ $") // a Caddyfile replaces {$NAME} in comments too
	if e.Line > 0 {
		text = fmt.Sprintf("line %d: %s", e.Line, text)
	}
	return "# " + strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }), " ")
}

// Limits of a configuration, because it may come from anywhere.
const (
	maxImport = 4 << 20 // octets
	maxDepth  = 64      // nested blocks or sections
	maxTexts  = 32      // alternatives of a pattern
	maxSteps  = 400_000 // directives and entries, and comparisons of one with another

	maxExpression = 16 << 10 // octets of a regular expression with several words
	maxCrawlers   = 20       // that a word of a User-Agent may mean; one such as "bot" means hundreds
)

// spend reports whether n more steps are within the limit. It adds a comment if
// they are the first ones that are not.
func (r *Result) spend(line, n int) bool {
	if r.left -= n; r.left < 0 && r.left+n >= 0 {
		r.missing(line, "the rest of the configuration, which is too large")
	}
	return r.left >= 0
}

// Import reads a configuration of the Apache HTTP server (also a .htaccess
// file) or of nginx (also the output of nginx -T). It detects the kind of the
// configuration. If config is larger than 4 MiB, Import converts nothing.
//
// A successful response for which the configuration sends a directive gets it
// from the rules too, unless a comment that is marked as Missing says
// otherwise. The rules may send more: a comment says where.
func Import(config []byte) Result {
	result := Result{left: maxSteps}
	switch {
	case len(config) > maxImport:
		result.missing(1, "the file has %d octets; at most %d are allowed", len(config), maxImport)
	case apacheLine.Match(config) && (!nginxLine.Match(config) || bytes.Contains(bytes.ToLower(config), []byte("<files"))):
		importApache(&result, string(config))
	default:
		importNginx(&result, string(config))
	}
	return result
}

// missing adds a comment that belongs to no site.
func (r *Result) missing(line int, format string, args ...any) {
	r.Entries = append(r.Entries, Entry{Line: line, Comment: "not converted: " + fmt.Sprintf(format, args...), Missing: true})
}

// apacheLine and nginxLine are lines that only one of the servers has.
var (
	apacheLine = regexp.MustCompile(`(?mi)^[ \t]*(</?[a-z]|(Request)?Header[ \t]|SetEnvIf|BrowserMatch|Rewrite|Options[ \t]|AddType[ \t]|#.*\.htaccess)`)
	nginxLine  = regexp.MustCompile(`(?m)add_header|more_set_headers|^[ \t]*(server|map|location|if)\b[^\n]*\{`)
)

// fieldName is the name of the field that the rules add.
const fieldName = "X-Robots-Tag"

// mentions reports whether the words of a directive contain the field's name.
func mentions(words []string) bool {
	return strings.Contains(strings.ToLower(strings.Join(words, " ")), "x-robots-tag")
}

// clip shortens untrusted input for comments.
func clip(s string) string { return fmt.Sprintf("%.100s", s) }
