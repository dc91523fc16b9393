package headers

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
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
	path  *pathGlob
	text  string // the pattern; "": all paths
	value string // of the field
}

const (
	signalField = "Content-Signal"
	usageField  = "Content-Usage"
	linkField   = "Link"
	licenseLine = "License" // sent as Link
)

// maxSignals is the maximal number of lines of one kind, and of pairs on a
// line.
const maxSignals = 64

// CompileSignals compiles the values of three kinds of lines: Content-Signal
// lines, such as "search=yes, ai-train=no" (contentsignals.org); Content-Usage
// lines, such as "/path train-ai=n" (IETF AIPREF); and License lines, which are
// absolute URLs (RSL 1.0). Values of the first two kinds may start with a path;
// without one, they apply to all paths. CompileSignals leaves out lines that a
// header can't contain, and returns an error for each.
func CompileSignals(contentSignal, contentUsage, license []string) (*Signals, []error) {
	s := &Signals{}
	var errs []error
	s.signal, errs = compileSignals("Content-Signal", contentSignal, errs)
	s.usage, errs = compileSignals("Content-Usage", contentUsage, errs)
	for _, l := range license {
		u, err := url.Parse(strings.TrimSpace(l))
		switch {
		case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
			errs = append(errs, fmt.Errorf("%s: %q is not an absolute URL", licenseLine, clip(l)))
		case len(s.links) == maxSignals:
			errs = append(errs, fmt.Errorf("%s: more than %d lines", licenseLine, maxSignals))
		default:
			// After this, a URL of printable ASCII has no > in it.
			value := "<" + strings.NewReplacer("<", "%3C", ">", "%3E", `"`, "%22").Replace(u.String()) + `>; rel="license"`
			if !isFieldValue(value) {
				errs = append(errs, fmt.Errorf("%s: a header can't contain %q", licenseLine, clip(l)))
			} else if !slices.Contains(s.links, value) {
				s.links = append(s.links, value)
			}
		}
	}
	return s, errs
}

func compileSignals(field string, lines []string, errs []error) ([]pathSignal, []error) {
	var signals []pathSignal
	for _, line := range lines {
		path, rest := "", strings.TrimSpace(line)
		if strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "*") {
			end := strings.IndexAny(rest, " \t")
			if end < 0 {
				end = len(rest)
			}
			path, rest = rest[:end], rest[end:]
		}
		value, err := preferences(rest)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", field, err))
			continue
		case len(path) > maxPattern:
			errs = append(errs, fmt.Errorf("%s: the path has %d octets; at most %d are allowed", field, len(path), maxPattern))
			continue
		}
		if i := slices.IndexFunc(signals, func(p pathSignal) bool { return p.text == path }); i >= 0 {
			// Lines for the same path are joined to one list. Both are valid,
			// so the joined list is valid too.
			if joined, err := preferences(signals[i].value + ", " + value); err == nil {
				signals[i].value = joined
			}
			continue
		}
		if len(signals) == maxSignals {
			errs = append(errs, fmt.Errorf("%s: more than %d lines", field, maxSignals))
			break
		}
		signals = append(signals, pathSignal{newPathGlob(path), path, value})
	}
	slices.SortStableFunc(signals, func(a, b pathSignal) int { return len(b.text) - len(a.text) })
	return signals, errs
}

// preferences normalises a list of key=value pairs. If a key occurs several
// times, the value is no or n if one of them is, and otherwise the last one.
func preferences(s string) (string, error) {
	var keys []string
	values := map[string]string{}
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		key, value, found := strings.Cut(part, "=")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		if !found || !isToken(key) || !isToken(value) {
			return "", fmt.Errorf("%q is not key=value", clip(part))
		}
		before, again := values[key]
		if !again {
			keys = append(keys, key)
		}
		if !strings.EqualFold(before, "no") && !strings.EqualFold(before, "n") {
			values[key] = value
		}
	}
	switch {
	case len(keys) == 0:
		return "", errors.New("the value is empty")
	case len(keys) > maxSignals:
		return "", fmt.Errorf("more than %d pairs", maxSignals)
	}
	for i, key := range keys {
		keys[i] = key + "=" + values[key]
	}
	return strings.Join(keys, ", "), nil
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
		v, b := read(target, true)
		addSignal(h, signalField, s.signal, &v)
		addSignal(h, usageField, s.usage, &v)
		b.release()
	}
	for _, link := range s.links {
		if !slices.Contains(h[linkField], link) {
			h[linkField] = append(h[linkField], link)
		}
	}
}

func addSignal(h http.Header, field string, signals []pathSignal, v *views) {
	if len(h[field]) > 0 {
		return
	}
	for i := range signals {
		if signals[i].path.matchViews(v) {
			h[field] = []string{signals[i].value}
			return
		}
	}
}
