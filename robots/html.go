package robots

import (
	"regexp"
	"slices"
	"strings"
)

// documentTags start an HTML document. partTags start a part of one, such as the
// warnings of a PHP script.
var (
	documentTags = []string{"<!doctype", "<html", "<head", "<body", "<title", "<meta"}
	partTags     = []string{
		"<script", "<div", "<h1", "<center", "<br", "<p", "<a ", "<b>", "<font", "<iframe", "<img", "<link", "<span", "<style", "<svg", "<table",
	}
)

// LooksLikeHTML reports whether data starts like an HTML page. Sites without a
// robots.txt often send such a page instead of a 404. Data that starts with a part
// of a page, and has a User-agent line, is a robots.txt: a script that writes the
// file may write warnings before it.
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
	return hasAnyPrefix(s, documentTags) || hasAnyPrefix(s, partTags) && !userAgentLine.Match(data)
}

func hasAnyPrefix(s string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

var userAgentLine = regexp.MustCompile(`(?i)(?:^|[\r\n])[ \t]*user-agent[ \t]*:`)
