package pattern

import "strings"

// IndexFolder returns the pattern of the folder that google/robotstxt allows
// as well where an Allow line is for its index.htm or index.html.
func IndexFolder(p string) (folder string, ok bool) {
	slash := strings.LastIndexByte(p, '/')
	if slash < 0 || !strings.HasPrefix(p[slash:], "/index.htm") {
		return "", false
	}
	return p[:slash+1] + "$", true
}

// maxServed bounds the patterns that are rewritten, in octets.
const maxServed = 4096

// Served returns what a pattern is as served: with its slashes decoded
// and merged and the dot segments removed that no `*` is near.
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
