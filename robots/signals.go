package robots

import "strings"

// License is a License line (Really Simple Licensing, RSL 1.0): the URL of the
// site's licence.
type License struct {
	URL  string // as written
	Line int
}

// field is a known line that is not a User-agent, Allow or Disallow line, such as a
// Crawl-delay or Noindex line.
type field struct {
	directive Directive
	value     string // as written
	line      int
	offset    int // of value in the file
}

// Preference is one key=value pair of a Content-Signal or Content-Usage line,
// as written.
type Preference struct {
	Key, Value string
}

// PreferenceLine is a Content-Signal line, such as `search=yes, ai-train=no`, or a
// Content-Usage line, such as `/path train-ai=n`. The drafts of the IETF working
// group AI Preferences (AIPREF) define the latter. It has all keys, also unknown
// ones.
type PreferenceLine struct {
	Path        string // of a Content-Usage line, as written; "" for all
	Preferences []Preference
	Value       string // as written
	Line        int
}

// maxPreferences bounds how many key=value pairs of one line are kept.
const maxPreferences = 64

func parsePreferences(s string) []Preference {
	var list []Preference
	for part := range strings.SplitSeq(s, ",") {
		key, value, found := strings.Cut(part, "=")
		key = strings.TrimSpace(key)
		if !found || key == "" {
			continue
		}
		if len(list) == maxPreferences {
			break
		}
		list = append(list, Preference{key, strings.TrimSpace(value)})
	}
	return list
}

func parsePreferenceLine(fd *field) (PreferenceLine, bool) {
	c := PreferenceLine{Value: fd.value, Line: fd.line}
	rest := fd.value
	if fd.directive == DirectiveContentUsage && (strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "*")) {
		i := strings.IndexAny(rest, " \t")
		if i < 0 {
			return c, false
		}
		c.Path, rest = rest[:i], rest[i:]
	}
	c.Preferences = parsePreferences(rest)
	return c, len(c.Preferences) > 0
}
