package lint

import (
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/robots"
)

// checkGoogle reports the lines that Google's parser reads differently, unless
// the same text already has a finding that is an error or suggests another path.
// It reports nothing for the older dialects: there, Google reads almost every
// line differently.
func (l *linter) checkGoogle() {
	wrong := map[[2]int]bool{}
	for i := range l.findings {
		if f := &l.findings[i]; f.Severity == Error || f.Code == "trailing-separator" {
			wrong[[2]int{f.Line, f.Column}] = true
		}
	}
	pages := l.indexPages()
	for _, d := range l.google {
		line := &l.lines[d.Line-1]
		if d.Kind == robots.GoogleIndexPage && !pages[d.Line] {
			continue
		}
		if f := l.googleFinding(d, line); d.Kind == robots.GoogleKey || !wrong[[2]int{f.Line, f.Column}] {
			l.add(f)
		}
	}
}

// googleDifferences returns the lines that Google's parser reads differently.
func (l *linter) googleDifferences() map[int]robots.GoogleDifference {
	if l.file.Dialect() != robots.RFC9309 {
		return nil
	}
	list := map[int]robots.GoogleDifference{}
	for d := range l.file.GoogleDifferences() {
		list[d.Line] = d
	}
	return list
}

func (l *linter) googleFinding(d robots.GoogleDifference, line *robots.Line) *Finding {
	const differs = "Google reads %s on this line, other crawlers read %s"
	switch d.Kind {
	case robots.GoogleKey:
		f := l.onKey("google-key", line, differs, quoted(d.Google), quoted(d.Ours))
		if near := nearestKey(line.Key); near != "" && !strings.ContainsAny(line.Key, "/*") {
			f.suggest(near)
		}
		return f
	case robots.GoogleAgent:
		return l.onValue("google-agent", line, differs, quoted(d.Google), quoted(d.Ours))
	case robots.GoogleIndexPage:
		return l.onValue("google-index-page", line, "for Google, this line also allows the folder %s, which is disallowed to other crawlers",
			indexFolder(line.Value))
	case robots.GoogleEnd:
		return l.onValue("google-end", line, "Google reads only %q", shorten(d.Google))
	}
	f := l.onValue("google-path", line, "Google compares the blanks and escapes in this path as they are written")
	if plain := escapePath(string(canonical.AppendUnescaped(nil, line.Value, canonical.Unreserved))); plain != line.Value {
		f.suggest(plain)
	}
	return f
}

// indexFolder returns the folder of an index page.
func indexFolder(path string) string { return path[:strings.LastIndexByte(path, '/')+1] }

// indexPages returns the lines that allow the index page of a folder although
// the folder is disallowed to a crawler that the line applies to.
func (l *linter) indexPages() map[int]bool {
	lines := map[int]bool{}
	for _, g := range l.allGroups() {
		for _, r := range g.Rules() {
			if l.budget--; l.budget < 0 {
				return lines
			}
			if d := l.google[r.Line]; d.Kind == robots.GoogleIndexPage && !g.Match(indexFolder(r.Pattern)).Allowed {
				lines[r.Line] = true
			}
		}
	}
	return lines
}

// quoted quotes a line. It returns "nothing" for the empty line.
func quoted(line string) string {
	if line == "" {
		return "nothing"
	}
	return `"` + shorten(line) + `"`
}
