package headers

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/pattern"
)

// Signals holds lines of a robots.txt that can also be sent as header fields,
// for clients that do not read robots.txt.
//
// Signals does not change and is safe for concurrent use. A nil *Signals sends
// nothing.
type Signals struct {
	signal, usage []pathSignal // sorted by the length of the path, the longest first
	links         []string     // values of Link
}

// pathSignal is the value for the paths that a pattern matches.
type pathSignal struct {
	text  string          // the pattern; "": all paths
	path  pattern.Pattern // of "/" for all paths
	value string          // of the field
}

// maxSignals is the maximal number of lines of one kind.
const maxSignals = 64

// CompileSignals compiles the values of three kinds of lines: Content-Signal
// lines, such as "search=yes, ai-train=no" (contentsignals.org); Content-Usage
// lines, such as "/path train-ai=n" (IETF AIPREF); and License lines, which are
// absolute URLs (RSL 1.0). Values of the first two kinds may start with a path;
// without one, they apply to all paths. CompileSignals leaves out lines that a
// header can't contain.
func CompileSignals(contentSignal, contentUsage, license []string) *Signals {
	s := &Signals{signal: compileSignals(contentSignal), usage: compileSignals(contentUsage)}
	for _, l := range license {
		u, err := url.Parse(strings.TrimSpace(l))
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(s.links) == maxSignals {
			continue
		}
		// After this, a URL of printable ASCII has no > in it.
		value := "<" + strings.NewReplacer("<", "%3C", ">", "%3E", `"`, "%22").Replace(u.String()) + `>; rel="license"`
		if isFieldValue(value) && !slices.Contains(s.links, value) {
			s.links = append(s.links, value)
		}
	}
	return s
}

func compileSignals(lines []string) (signals []pathSignal) {
	for _, line := range lines {
		path, rest := "", strings.TrimSpace(line)
		if strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "*") {
			path = strings.Fields(rest)[0]
			rest = rest[len(path):]
		}
		i := slices.IndexFunc(signals, func(p pathSignal) bool { return p.text == path })
		if i >= 0 { // lines for the same path are joined to one list
			rest = signals[i].value + "," + rest
		}
		value := preferences(rest)
		switch {
		case value == "" || len(path)+len(value) > maxPattern:
		case i >= 0:
			signals[i].value = value
		case len(signals) < maxSignals:
			p, _ := pattern.Compile(cmp.Or(path, "/"), pattern.RFC9309, false)
			signals = append(signals, pathSignal{path, p, value})
		}
	}
	slices.SortStableFunc(signals, func(a, b pathSignal) int { return len(b.text) - len(a.text) })
	return signals
}

// preferences normalises a list of key=value pairs. If a key occurs several
// times, the value is no or n if one of them is, and otherwise the last one.
// It returns "" for a list that a header can't contain.
func preferences(s string) string {
	var keys []string
	values := map[string]string{}
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		key, value, _ := strings.Cut(part, "=")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		if !isToken(key) || !isToken(value) {
			return ""
		}
		before, again := values[key]
		if !again {
			keys = append(keys, key)
		}
		if !strings.EqualFold(before, "no") && !strings.EqualFold(before, "n") {
			values[key] = value
		}
	}
	for i, key := range keys {
		keys[i] = key + "=" + values[key]
	}
	return strings.Join(keys, ", ")
}

// isFieldValue reports whether s is printable ASCII.
func isFieldValue(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// Empty reports whether s has nothing to send.
func (s *Signals) Empty() bool { return s == nil || len(s.signal)+len(s.usage)+len(s.links) == 0 }

// Apply adds the signals for a request target to h, the header of a response
// that is about to be written with status. The target has the same form as for
// Table.Match. If several lines for a field match, Apply sends the one with the
// longest path. It does not change a Content-Signal or Content-Usage field that
// h already has, since the response is more specific than robots.txt. For each
// License line, it adds a Link field with rel="license", unless h already has a
// Link field with the same value. It adds nothing to interim responses (1xx).
func (s *Signals) Apply(h http.Header, target string, status int) {
	if s.Empty() || status < 200 {
		return
	}
	if len(s.signal)+len(s.usage) > 0 {
		v := read(target)
		addSignal(h, "Content-Signal", s.signal, v)
		addSignal(h, "Content-Usage", s.usage, v)
		v.release()
	}
	for _, link := range s.links {
		if !slices.Contains(h["Link"], link) {
			h["Link"] = append(h["Link"], link)
		}
	}
}

func addSignal(h http.Header, field string, signals []pathSignal, v *views) {
	if len(h[field]) > 0 {
		return
	}
	for i := range signals {
		if v.match(&signals[i].path) {
			h[field] = []string{signals[i].value}
			return
		}
	}
}
