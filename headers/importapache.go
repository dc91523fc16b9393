package headers

import (
	"fmt"
	"regexp"
	"strings"
)

// section is an open section of an Apache configuration.
type section struct {
	name  string // in lower case
	scope scope  // nil: none of its own
	why   string // what can't be turned about it; "" if it can
	line  int
}

// apache reads Apache's configuration (httpd.apache.org/docs/2.4/configuring.html).
func (im *importer) apache(config string) {
	var open []section
	for line, text := range logicalLines(config) {
		text = strings.TrimSpace(text)
		switch {
		case text == "" || text[0] == '#':
		case strings.HasPrefix(text, "</"):
			name := strings.ToLower(strings.TrimSpace(strings.TrimSuffix(text[2:], ">")))
			if n := len(open); n > 0 && open[n-1].name == name {
				open = open[:n-1]
			} else {
				im.problem(line, "</%s> closes nothing that is open", clip(name))
			}
		case text[0] == '<':
			if len(open) == maxDepth {
				im.problem(line, "sections are nested deeper than %d", maxDepth)
				return
			}
			open = append(open, apacheSection(line, text))
		default:
			im.apacheHeader(line, text, open)
		}
	}
	for _, s := range open {
		im.problem(s.line, "<%s> is never closed", clip(s.name))
	}
}

// maxDepth bounds the nesting of sections.
const maxDepth = 64

// logicalLines yields the lines of an Apache configuration by their numbers,
// those joined that end in a backslash.
func logicalLines(config string) func(func(int, string) bool) {
	return func(yield func(int, string) bool) {
		var joined strings.Builder
		number, start := 0, 0
		for line := range strings.Lines(config) {
			number++
			if start == 0 {
				start = number
			}
			line = strings.TrimRight(line, "\r\n")
			if rest, more := strings.CutSuffix(line, `\`); more {
				joined.WriteString(rest)
				continue
			}
			joined.WriteString(line)
			if !yield(start, joined.String()) {
				return
			}
			joined.Reset()
			start = 0
		}
		if start > 0 {
			yield(start, joined.String())
		}
	}
}

// transparent are the sections that don't limit what is in them to some
// requests of the site.
var transparent = map[string]bool{"virtualhost": true, "ifmodule": true, "ifversion": true, "ifdirective": true, "ifsection": true, "macro": true}

func apacheSection(line int, text string) section {
	text = strings.TrimSuffix(text[1:], ">")
	words := apacheWords(text)
	if len(words) == 0 {
		return section{line: line, why: "a section without a name"}
	}
	s := section{name: strings.ToLower(words[0]), line: line}
	args := words[1:]
	matches := strings.HasSuffix(s.name, "match")
	if len(args) == 2 && args[0] == "~" && !matches {
		matches, args = true, args[1:]
	}
	switch {
	case transparent[s.name] && !(len(args) > 0 && strings.HasPrefix(args[0], "!")):
		return s
	case len(args) != 1:
		s.why = fmt.Sprintf("<%s> with %d arguments", clip(text), len(args))
		return s
	}
	arg := args[0]
	switch s.name {
	case "files", "filesmatch":
		r := Rule{Pattern: arg}
		if matches {
			r.Kind = KindRegexp
		} else if _, err := namePattern(arg); err != nil || kindWords[arg] != "" || arg == "not" || strings.HasPrefix(arg, "!") {
			r = Rule{Kind: KindRegexp, Pattern: globToRegexp(arg)}
		}
		if _, err := r.pattern(); err != nil {
			s.why = err.Error()
		}
		s.scope = scope{r}
	case "location", "locationmatch":
		var err error
		switch {
		case matches:
			if s.scope, err = pathRegexp(arg, false); err != nil {
				s.why = err.Error()
			}
		case strings.ContainsAny(arg, "*?[") || !strings.HasPrefix(arg, "/"):
			s.why = fmt.Sprintf("<Location %s>: wildcards that stop at a slash", clip(arg))
		default:
			s.scope = pathFolder(arg)
		}
	default:
		s.why = fmt.Sprintf("<%s>: a rule knows names, paths, media types and statuses only", clip(text))
	}
	return s
}

// globToRegexp is a pattern of <Files> as a regular expression.
func globToRegexp(s string) string {
	return "^" + strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(s)) + "$"
}

// apacheWords parts a line into words as Apache does: quotes hold one
// together, and a backslash before a quote or another backslash escapes it.
func apacheWords(s string) []string {
	var words []string
	for {
		s = strings.TrimLeft(s, " \t")
		if s == "" {
			return words
		}
		quote := byte(0)
		if s[0] == '"' || s[0] == '\'' {
			quote, s = s[0], s[1:]
		}
		var word strings.Builder
		i := 0
		for ; i < len(s); i++ {
			if s[i] == quote || quote == 0 && (s[i] == ' ' || s[i] == '\t') {
				break
			}
			if s[i] == '\\' && i+1 < len(s) && (s[i+1] == '\\' || quote != 0 && s[i+1] == quote) {
				i++
			}
			word.WriteByte(s[i])
		}
		words = append(words, word.String())
		s = s[min(len(s), i+1):]
	}
}

var requestStatus = regexp.MustCompile(`^%\{REQUEST_STATUS\}\s*(?:==|-eq)\s*['"]?(\d{3})['"]?$`)

// apacheHeader reads a Header directive (mod_headers).
func (im *importer) apacheHeader(line int, text string, open []section) {
	words := apacheWords(text)
	if len(words) < 2 || !strings.EqualFold(words[0], "Header") {
		if len(words) > 0 && strings.Contains(strings.ToLower(text), "x-robots-tag") {
			im.problem(line, "%s is not read; only Header is", clip(words[0]))
		}
		return
	}
	words = words[1:]
	if strings.EqualFold(words[0], "always") || strings.EqualFold(words[0], "onsuccess") {
		words = words[1:]
	}
	if len(words) < 2 || !strings.EqualFold(strings.TrimSuffix(words[1], ":"), fieldName) {
		return
	}
	action := strings.ToLower(words[0])
	switch action {
	case "set", "add", "append", "merge", "setifempty":
	case "unset", "edit", "edit*":
		im.problem(line, "Header %s: what the site itself says is kept; take it off with the directive header or header_down", action)
		return
	default:
		im.problem(line, "Header %s does not exist", clip(words[0]))
		return
	}
	if len(words) < 3 {
		im.problem(line, "Header %s without a value", action)
		return
	}
	value, conditions := words[2], words[3:]
	if strings.Contains(strings.ReplaceAll(value, "%%", ""), "%") || strings.HasPrefix(value, "expr=") {
		im.problem(line, "the value %q is computed for each request", clip(value))
		return
	}
	value = strings.ReplaceAll(value, "%%", "%")
	var limits []section
	for _, s := range open {
		if s.scope != nil || s.why != "" {
			limits = append(limits, s)
		}
	}
	for _, c := range conditions {
		if m := requestStatus.FindStringSubmatch(strings.TrimPrefix(c, "expr=")); m != nil {
			limits = append(limits, section{scope: scope{{Kind: KindStatus, Pattern: m[1]}}})
		} else if c != "early" {
			limits = append(limits, section{why: "the condition " + clip(c)})
		}
	}
	for _, l := range limits {
		if l.why != "" {
			im.problem(line, "can't be turned: %s", l.why)
			return
		}
	}
	switch len(limits) {
	case 0:
		im.add(line, everything, value)
	case 1:
		im.add(line, limits[0].scope, value)
	default:
		im.problem(line, "can't be turned: a rule has one pattern, and here %d limit the header at once", len(limits))
	}
}
