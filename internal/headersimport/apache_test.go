package headersimport

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/nameglob"
)

// fakeSection is a section of a random Apache configuration, with the Header
// lines in it.
type fakeSection struct {
	kind, arg string // kind "": outside of sections
	lines     []fakeHeader
	inner     []fakeSection // of a Directory
}

type fakeHeader struct {
	always        bool
	action, value string
	conditional   bool
}

func (c *choices) section(kinds ...string) fakeSection {
	s := fakeSection{kind: c.from(kinds...)}
	switch s.kind {
	case "Files":
		s.arg = c.from("*.pdf", "x.pdf", "[a-c]*.doc", "index.*", "?.php", "y*")
	case "FilesMatch":
		s.arg = c.from(`\.pdf$`, `\.(php|doc)$`, `^x`, `(?i)\.doc$`)
	case "Location":
		s.arg = c.from("/", "/a", "/a/", "/b/", "/a/x.pdf", "/*/b")
	case "LocationMatch":
		s.arg = c.from(`^/a/`, `\.php$`, `^/(a|b)/`, `/b/`)
	case "Directory":
		s.arg = c.from("/", "/www", "/www/a", "/www/a/b", "/other")
		for range c.of(2) {
			s.inner = append(s.inner, c.section("Files", "FilesMatch"))
		}
	}
	for range 1 + c.of(2) {
		h := fakeHeader{c.of(4) == 0, c.from("set", "set", "add", "append", "merge", "unset"), c.from(testValues...), c.of(10) == 0}
		s.lines = append(s.lines, h)
	}
	return s
}

func (s *fakeSection) print(b *strings.Builder) {
	if s.kind != "" {
		fmt.Fprintf(b, "<%s %q>\n", s.kind, s.arg)
	}
	for _, h := range s.lines {
		b.WriteString("Header ")
		if h.always {
			b.WriteString("always ")
		}
		fmt.Fprintf(b, "%s X-Robots-Tag", h.action)
		if h.action != "unset" {
			fmt.Fprintf(b, " %q", h.value)
		}
		if h.conditional {
			b.WriteString(" env=X")
		}
		b.WriteString("\n")
	}
	for i := range s.inner {
		s.inner[i].print(b)
	}
	if s.kind != "" {
		fmt.Fprintf(b, "</%s>\n", s.kind)
	}
}

// matches reports whether Apache applies a section to a URL. The DocumentRoot
// is /www.
func (s *fakeSection) matches(url string) bool {
	name := url[strings.LastIndexByte(url, '/')+1:]
	if name == "" {
		name = "index.html"
	}
	below := func(path, of string) bool {
		return of == "/" || path == of || strings.HasPrefix(path, strings.TrimSuffix(of, "/")+"/") && (path != of)
	}
	switch s.kind {
	case "Files":
		if s.arg == "[a-c]*.doc" {
			return regexp.MustCompile(`^[a-c].*\.doc$`).MatchString(name)
		}
		return nameglob.New(s.arg).Match(name)
	case "FilesMatch":
		return regexp.MustCompile(s.arg).MatchString(name)
	case "Location":
		if s.arg == "/*/b" {
			return regexp.MustCompile(`^/[^/]*/b$`).MatchString(url)
		}
		return below(url, s.arg)
	case "LocationMatch":
		return regexp.MustCompile(s.arg).MatchString(url)
	case "Directory":
		return below("/www"+url, s.arg)
	}
	return true
}

// sections returns the Header lines that apply to a URL, in the order in which
// Apache merges them: outside of sections, Directory by depth, Files, Files in
// Directory, Location.
func sections(all []fakeSection, url string) (merged []fakeHeader) {
	var stages [5][]fakeSection
	for _, s := range all {
		if !s.matches(url) {
			continue
		}
		switch s.kind {
		case "":
			stages[0] = append(stages[0], s)
		case "Directory":
			stages[1] = append(stages[1], s)
		case "Files", "FilesMatch":
			stages[2] = append(stages[2], s)
		default:
			stages[4] = append(stages[4], s)
		}
	}
	depth := func(dir string) int { return strings.Count(strings.TrimSuffix(dir, "/"), "/") }
	slices.SortStableFunc(stages[1], func(a, b fakeSection) int { return depth(a.arg) - depth(b.arg) })
	for _, d := range stages[1] {
		for _, in := range d.inner {
			if in.matches(url) {
				stages[3] = append(stages[3], in)
			}
		}
	}
	for _, stage := range stages {
		for _, s := range stage {
			merged = append(merged, s.lines...)
		}
	}
	return merged
}

// evaluate returns the X-Robots-Tag fields that Header lines set. holds is
// whether the conditions of conditional lines are true.
func evaluate(lines []fakeHeader, holds bool) []string {
	var tables [2][]string
	for _, l := range lines {
		if l.conditional && !holds {
			continue
		}
		table := &tables[0]
		if l.always {
			table = &tables[1]
		}
		switch {
		case l.action == "unset":
			*table = nil
		case l.action == "set":
			*table = []string{l.value}
		case l.action == "add", len(*table) == 0:
			*table = append(slices.Clone(*table), l.value)
		default: // append and merge, to the first one (apr_table_mergen)
			*table = append([]string{(*table)[0] + ", " + l.value}, (*table)[1:]...)
		}
	}
	return slices.Concat(tables[0], tables[1])
}

func importApacheProperty(t *testing.T, c *choices) (rules, problems int) {
	var all, host []fakeSection
	kinds := []string{"", "Files", "FilesMatch", "Location", "LocationMatch", "Directory"}
	for range c.of(3) {
		all = append(all, c.section(kinds...))
	}
	for range 1 + c.of(3) {
		host = append(host, c.section(kinds...))
	}
	var b strings.Builder
	b.WriteString("<VirtualHost *:80>\nServerName a.test\nDocumentRoot /www\n")
	for i := range host {
		host[i].print(&b)
	}
	b.WriteString("</VirtualHost>\n")
	for i := range all {
		all[i].print(&b)
	}
	b.WriteString("<VirtualHost *:80>\nServerName staging.test\nHeader set X-Robots-Tag noarchive\n</VirtualHost>\n")
	im := Import([]byte(b.String()))
	for _, site := range im.Sites {
		if slices.Equal(site.Names, []string{"a.test"}) {
			compareImported(t, b.String(), site, func(path string) [][]string {
				// At each stage, the lines of the virtual host are after the
				// lines outside of it.
				lines := sections(append(slices.Clone(all), host...), path)
				return [][]string{evaluate(lines, true), evaluate(lines, false)}
			})
			return len(site.Rules), len(site.Problems)
		}
	}
	t.Fatalf("%s\nno site a.test in %v", b.String(), im)
	return 0, 0
}

func TestImportApacheAddsNoDirectives(t *testing.T) {
	checkRandomImports(t, importApacheProperty, rand.NewPCG(5, 6), 2000, 1000)
}

func FuzzImportApache(f *testing.F) {
	f.Add([]byte("\x01\x02\x03\x00\x01\x01\x02\x05\x01\x01\x00\x02"))
	f.Fuzz(func(t *testing.T, data []byte) { importApacheProperty(t, &choices{data: data}) })
}
