package headersimport

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fakeLevel is a level of a random nginx configuration. The test evaluates it
// as nginx does, independently of the importer.
type fakeLevel struct {
	modifier, uri string
	values        []string // of X-Robots-Tag
	other         bool     // it adds another header
	more          string   // of more_set_headers
	tryFiles      string
	ifAdds        string // a header that an if block inside adds; its condition is always true
	locations     []*fakeLevel
}

// level returns a random level that nginx accepts: an exact location contains
// no locations, and a location with a prefix contains only locations with a
// longer prefix or a regular expression.
func (c *choices) level(depth int, modifier, uri string) *fakeLevel {
	l := &fakeLevel{modifier: modifier, uri: uri}
	for range c.of(3) {
		l.values = append(l.values, c.from(testValues...))
	}
	l.other = c.of(6) == 0
	if c.of(8) == 0 {
		l.more = c.from(testValues...)
	}
	if c.of(8) == 0 {
		l.tryFiles = c.from("/index.php", "/a/x", "/b/", "$uri/x")
	}
	if depth > 0 && c.of(12) == 0 {
		l.ifAdds = c.from("X-Robots-Tag nofollow", "X-Other 1")
	}
	seen := map[string]bool{}
	for range c.of(5 - depth) {
		modifier, uri := c.from("", "", "^~", "=", "~", "~*"), ""
		switch {
		case modifier[:min(1, len(modifier))] == "~":
			uri = c.from(`\.pdf$`, `\.(doc|php)$`, `^/a/`, `^/(a|b)/`, `/b/`, `^/a/x$`, `\.php$`, `^/b/.*\.pdf$`, `\.html$`)
		case l.modifier == "=" || strings.HasPrefix(l.modifier, "~"):
			continue
		default:
			uri = c.from("/", "/a", "/a/", "/a/b/", "/b/", "/index.html", "/x.pdf", "/a/x.pdf", "/a/b")
		}
		if key := strings.TrimPrefix(modifier, "^~") + uri; depth < 3 && l.modifier != "=" && !seen[key] && (modifier[:min(1, len(modifier))] == "~" || strings.HasPrefix(uri, l.uri)) {
			seen[key] = true
			l.locations = append(l.locations, c.level(depth+1, modifier, uri))
		}
	}
	return l
}

func (l *fakeLevel) print(b *strings.Builder) {
	for _, v := range l.values {
		fmt.Fprintf(b, "add_header X-Robots-Tag %q;\n", v)
	}
	if l.other {
		b.WriteString("add_header X-Other 1 always;\n")
	}
	if l.more != "" {
		fmt.Fprintf(b, "more_set_headers 'X-Robots-Tag: %s';\n", l.more)
	}
	if l.tryFiles != "" {
		fmt.Fprintf(b, "try_files $uri %s;\n", l.tryFiles)
	}
	if l.ifAdds != "" {
		fmt.Fprintf(b, "if ($request_method = GET) { add_header %s; }\n", l.ifAdds)
	}
	for _, in := range l.locations {
		fmt.Fprintf(b, "location %s %s {\n", in.modifier, in.uri)
		in.print(b)
		b.WriteString("}\n")
	}
}

// choose does what ngx_http_core_find_location does. It returns the levels from
// l to the one that nginx chooses, and whether nginx then does not try regular
// expressions of the levels around.
func (l *fakeLevel) choose(path string) (chain []*fakeLevel, final bool) {
	var longest *fakeLevel
	for _, in := range l.locations {
		switch {
		case in.modifier == "=" && in.uri == path:
			return []*fakeLevel{l, in}, true
		case in.modifier == "" || in.modifier == "^~":
			if strings.HasPrefix(path, in.uri) && (longest == nil || len(in.uri) > len(longest.uri)) {
				longest = in
			}
		}
	}
	chain = []*fakeLevel{l}
	if longest != nil {
		inner, final := longest.choose(path)
		chain = append(chain, inner...)
		if final || longest.modifier == "^~" {
			return chain, final
		}
	}
	for _, in := range l.locations {
		fold := map[string]string{"~": "", "~*": "(?i)"}
		if prefix, is := fold[in.modifier]; is && regexp.MustCompile(prefix+in.uri).MatchString(path) {
			inner, _ := in.choose(path)
			return append([]*fakeLevel{l}, inner...), true
		}
	}
	return chain, false
}

// answers returns all lists of values that nginx may send for a path: a file
// may exist or not, and if it does not, try_files redirects the request.
func (l *fakeLevel) answers(path string, passes int) (all [][]string) {
	chain, _ := l.choose(path)
	last := chain[len(chain)-1]
	var added, more []string
	for _, c := range chain {
		if len(c.values) > 0 || c.other {
			added = c.values
		}
		if c.more != "" {
			more = []string{c.more}
		}
	}
	if last.ifAdds != "" {
		value, own := strings.CutPrefix(last.ifAdds, "X-Robots-Tag ")
		added = nil
		if own {
			added = []string{value}
		}
	}
	all = append(all, slices.Concat(added, more))
	if to := last.tryFiles; to != "" && passes < 3 {
		all = append(all, l.answers(strings.ReplaceAll(to, "$uri", path), passes+1)...)
	}
	if strings.HasSuffix(path, "/") && passes < 3 {
		all = append(all, l.answers(path+"index.html", passes+1)...)
	}
	return all
}

// importNginxProperty checks the rules of a random configuration; see
// compareImported.
func importNginxProperty(t *testing.T, c *choices) (rules, problems int) {
	server := c.level(0, "", "")
	server.tryFiles, server.ifAdds = "", ""
	var b strings.Builder
	b.WriteString("server {\n")
	server.print(&b)
	b.WriteString("}\nserver { server_name staging; add_header X-Robots-Tag none; }\n")
	im := Import([]byte(b.String()))
	var site Site
	for _, s := range im.Sites {
		if s.Line == 1 {
			site = s
		} else if len(s.Rules) != 1 || s.Rules[0].Rule.Pattern != "*" {
			t.Errorf("the site staging has %v", s)
		}
	}
	compareImported(t, b.String(), site, func(path string) [][]string { return server.answers(path, 0) })
	return len(site.Rules), len(site.Problems)
}

func TestImportNginxAddsNoDirectives(t *testing.T) {
	checkRandomImports(t, importNginxProperty, rand.NewPCG(3, 4), 500, 300)
}

func FuzzImportNginx(f *testing.F) {
	f.Add([]byte("\x02\x00\x01\x05\x01\x01\x01\x03\x02\x00\x03"))
	f.Fuzz(func(t *testing.T, data []byte) { importNginxProperty(t, &choices{data: data}) })
}
