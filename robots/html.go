package robots

import "strings"

// LooksLikeHTML reports whether data starts like an HTML page. Sites without a
// robots.txt often send such a page instead of a 404.
func LooksLikeHTML(data []byte) bool {
	s := string(data[:min(len(data), 1024)])
	s = strings.ToLower(strings.TrimLeft(strings.TrimPrefix(s, byteOrderMark), " \t\r\n\f\v"))
	for strings.HasPrefix(s, "<!--") || strings.HasPrefix(s, "<?xml") {
		i := strings.IndexByte(s, '>')
		if i < 0 {
			return true
		}
		s = strings.TrimLeft(s[i+1:], " \t\r\n\f\v")
	}
	for _, tag := range []string{"<!doctype", "<html", "<head", "<body", "<title", "<meta", "<script", "<div", "<h1", "<center", "<br",
		"<p", "<a ", "<b>", "<font", "<iframe", "<img", "<link", "<span", "<style", "<svg", "<table"} {
		if strings.HasPrefix(s, tag) {
			return true
		}
	}
	return false
}
