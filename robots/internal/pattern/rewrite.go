package pattern

import "strings"

// IndexFolder returns the pattern of a folder if p is the pattern of its
// index.htm or index.html. google/robotstxt applies an Allow line for such a
// file to the folder too.
func IndexFolder(p string) (folder string, ok bool) {
	slash := strings.LastIndexByte(p, '/')
	if slash < 0 || !strings.HasPrefix(p[slash:], "/index.htm") {
		return "", false
	}
	return p[:slash+1] + "$", true
}

// maxServed is the maximal length, in octets, of a pattern that Served
// rewrites.
const maxServed = 4096

// Served returns the pattern for paths as served: it decodes escaped slashes
// and dots, merges repeated slashes, and removes dot segments. It keeps a `..`
// segment behind a segment with a `*`. It also reports whether the result
// differs from p.
func Served(p string) (string, bool) {
	if len(p) > maxServed {
		return p, false
	}
	path, query, hasQuery := strings.Cut(p, "?")
	s := decodeSlashes.Replace(path)
	for strings.Contains(s, "//") {
		s = strings.ReplaceAll(s, "//", "/")
	}
	for strings.Contains(s, "/./") {
		s = strings.ReplaceAll(s, "/./", "/")
	}
	for {
		i := strings.Index(s, "/../")
		if i < 0 {
			break
		}
		from := max(strings.LastIndexByte(s[:i], '/'), 0)
		if strings.Contains(s[from:i], "*") {
			break
		}
		s = s[:from] + s[i+len("/.."):]
	}
	if hasQuery {
		s += "?" + query
	}
	return s, s != p
}

var decodeSlashes = strings.NewReplacer("%2F", "/", "%2f", "/", "%2E", ".", "%2e", ".")
