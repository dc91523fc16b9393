package robots

import (
	"net/url"
	"strings"
)

// maxLines bounds how many lines are looked at. Half a megabyte of rules has
// some 20,000.
const maxLines = 100_000

// checkWhole looks at the file as a whole. It reports whether there are lines
// worth looking at.
func (l *linter) checkWhole() bool {
	text := l.file.text
	truncated := l.file.Truncated()
	first := Line{Number: 1}
	if l.location != "" {
		if u, err := url.Parse(l.location); err == nil && u.Host != "" && u.Path != "/robots.txt" {
			l.add(l.at("not-at-root", &first, 0, l.location, "%s is not /robots.txt at the root of %s", u.Path, u.Host))
		}
	}
	switch {
	case strings.HasPrefix(text, "\xff\xfe"), strings.HasPrefix(text, "\xfe\xff"):
		l.add(l.at("utf-16", &first, 0, "", "the file is in UTF-16: save it as UTF-8"))
		return false
	case LooksLikeHTML([]byte(text[:min(len(text), 1024)])):
		l.add(l.at("html-page", &first, 0, firstLine(text), "an HTML page instead of robots.txt"))
		return false
	case isBinary(text):
		l.add(l.at("binary", &first, 0, "", "the file is not text"))
		return false
	}
	for line := range l.file.Lines() {
		if len(l.lines) == maxLines {
			l.file = Parse([]byte(text[:line.Offset]), WithDialect(l.file.dialect), WithMaxSize(line.Offset))
			l.add(l.at("analysis-limited", &line, 0, "", "more than %d lines: the rest was not looked at", maxLines))
			break
		}
		l.lines = append(l.lines, line)
	}
	if strings.HasPrefix(text, byteOrderMark) {
		l.add(l.at("byte-order-mark", &first, 0, "", "the file starts with a byte order mark").
			suggest("").safely(&first, 0, len(byteOrderMark), ""))
	}
	if n := len(l.lines); truncated || len(text) > MaxSize {
		last := &Line{Number: n + 1}
		for i := range l.lines {
			if end := l.lines[i].Offset + len(l.lines[i].Raw); end > MaxSize {
				last = &l.lines[i]
				break
			}
		}
		l.add(l.at("too-large", last, 0, "", "what is here and below lies beyond 500 KiB"))
	}
	l.checkEndings()
	return true
}

func firstLine(text string) string {
	if i := strings.IndexAny(text, "\r\n"); i >= 0 {
		return text[:i]
	}
	return text
}

// isBinary reports whether a text has control octets as no text has them.
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

// checkEndings reports line endings that are not those of the most lines, or
// that old readers do not know.
func (l *linter) checkEndings() {
	count := map[string]int{}
	for i := range l.lines {
		count[l.lines[i].Ending]++
	}
	usual := "\n"
	if count["\r\n"] > count["\n"] {
		usual = "\r\n"
	}
	names := map[string]string{"\n": "LF", "\r\n": "CRLF", "\r": "CR"}
	if cr := count["\r"]; cr > 0 && cr >= count["\n"]+count["\r\n"] {
		l.endings("cr-line-endings", "\n", "%s: lines end in CR alone", names)
		return
	}
	if len(count)-min(count[""], 1) > 1 {
		l.endings("mixed-line-endings", usual, "%s here, "+names[usual]+" on most lines", names)
	}
}

// endings reports the first line whose ending is not want, and has Fix write
// want on all.
func (l *linter) endings(code, want, format string, names map[string]string) {
	var f *Finding
	for i := range l.lines {
		line := &l.lines[i]
		if line.Ending == want || line.Ending == "" {
			continue
		}
		if f == nil {
			f = l.at(code, line, len(line.Raw), "", format, names[line.Ending])
		}
		end := len(line.Raw)
		f.safely(line, end, end+len(line.Ending), want)
	}
	if f != nil {
		l.add(f)
	}
}
