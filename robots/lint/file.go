package lint

import (
	"net/url"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/robots"
)

// maxLines bounds how many lines are checked. Half a megabyte of rules has
// about 20,000 lines.
const maxLines = 100_000

// checkFile checks the file as a whole. It returns false if the file is not a
// text file with lines to check.
func (l *linter) checkFile() bool {
	text := l.text
	truncated := l.file.Truncated()
	first := robots.Line{Number: 1}
	if u, err := url.Parse(l.location); err == nil && u.Host != "" && u.Path != "/robots.txt" {
		l.add(l.at("not-at-root", &first, 0, l.location, "%s is not /robots.txt: crawlers do not ask %s for it", u.Path, u.Host))
	}
	switch {
	case strings.HasPrefix(text, "\xff\xfe"), strings.HasPrefix(text, "\xfe\xff"):
		l.add(l.at("utf-16", &first, 0, "", "the file is in UTF-16: save it as UTF-8"))
		return false
	case robots.LooksLikeHTML([]byte(text)):
		line, _ := l.file.Line(1)
		l.add(l.at("html-page", &first, 0, line.Raw, "the file is an HTML page, not a robots.txt"))
		return false
	case isBinary(text):
		l.add(l.at("binary", &first, 0, "", "the file is not text"))
		return false
	}
	for line := range l.file.Lines() {
		if len(l.lines) == maxLines {
			l.file = robots.Parse([]byte(text[:line.Offset]), robots.WithDialect(l.file.Dialect()), robots.WithMaxSize(line.Offset))
			l.add(l.at("analysis-limited", &line, 0, "", "only the first %d lines were checked", maxLines))
			break
		}
		l.lines = append(l.lines, line)
	}
	if n := len(l.lines); truncated || len(text) > robots.MaxSize {
		last := &robots.Line{Number: n + 1}
		if i := slices.IndexFunc(l.lines, func(line robots.Line) bool { return line.Offset+len(line.Raw) > robots.MaxSize }); i >= 0 {
			last = &l.lines[i]
		}
		l.add(l.at("too-large", last, 0, "", "crawlers may stop reading here, after 500 KiB"))
	}
	return true
}

// isBinary reports whether more than one octet in 20, of the first 4096, is a
// control octet that text does not have.
func isBinary(text string) bool {
	odd := 0
	head := text[:min(len(text), 4096)]
	for i := range len(head) {
		if c := head[i]; c == 0 || c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' {
			odd++
		}
	}
	return odd*20 > len(head)
}
