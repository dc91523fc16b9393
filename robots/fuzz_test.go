package robots

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
)

var seeds = []string{
	"",
	"\xef\xbb\xbfUser-agent: *\r\nDisallow: /a # b\r\n\r\nAllow: /a/b$\rSitemap: https://x.test/s.xml",
	"User-agent: Sogou web spider\nUser-agent: sogou/4.0\nuser agent * \nDissallow /x y\nDisallow /x\nCrawl-delay: 0.5\n",
	"User-agent: a\nCrawl-delay: 1\nUser-agent: b\nRequest-rate: 1/10m 1300-1659\nVisit-time: 0600 0845\nNoindex: /n*\n",
	"User-agent: *\nContent-Signal: search=yes, ai-train=no\nContent-Usage: /p train-ai=n\nClean-param: a&b /p\nHost: x\n",
	"Disallow: /before\nUser-agent:\nDisallow: /none\nUser-agent: Mozilla/5.0 (compatible; x)\nDisallow:\n\n\n\x00\xff",
	"<html><body>User-agent: *<br>Disallow: /</body></html>",
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), uint8(0))
		f.Add([]byte(s), uint8(2))
	}
	f.Fuzz(func(t *testing.T, data []byte, dialect uint8) {
		d := Dialect(dialect % 3)
		file := Parse(data, WithDialect(d))
		if !file.Truncated() && !bytes.Equal(file.Bytes(), data) {
			t.Fatal("Bytes differs from the input")
		}
		lines := checkLines(t, file)
		for _, g := range file.Groups() {
			checkGroup(t, file, g, lines)
		}
		for _, token := range file.Tokens() {
			if file.Named(token) == nil {
				t.Fatalf("token %q has no group", token)
			}
		}
		again := Parse(file.Bytes(), WithDialect(d))
		if !slices.Equal(file.Tokens(), again.Tokens()) || !slices.Equal(file.Star().Rules(), again.Star().Rules()) {
			t.Fatal("the output of Bytes is parsed as another file")
		}
		half := Parse(data, WithDialect(d), WithMaxSize(len(data)/2))
		if !strings.HasPrefix(string(data), string(half.Bytes())) || len(half.Bytes()) > len(data)/2 {
			t.Fatal("the file has more octets than WithMaxSize allows")
		}
	})
}

// checkLines checks that the lines of a file, one after the other, are the
// whole file, and that each key and value is at its column. It returns the
// lines.
func checkLines(t *testing.T, file *File) []Line {
	t.Helper()
	var text strings.Builder
	var lines []Line
	for l := range file.Lines() {
		if l.Offset != text.Len() || l.Number != len(lines)+1 {
			t.Fatalf("line %d at %d, want line %d at %d", l.Number, l.Offset, len(lines)+1, text.Len())
		}
		if strings.ContainsAny(l.Raw, "\r\n") {
			t.Fatalf("line %d contains a line ending: %q", l.Number, l.Raw)
		}
		if !strings.HasPrefix(l.Raw[l.KeyCol:], l.Key) || !strings.HasPrefix(l.Raw[l.ValueCol:], l.Value) {
			t.Fatalf("line %d: key %q or value %q is not at its column in %q", l.Number, l.Key, l.Value, l.Raw)
		}
		text.WriteString(l.Raw + l.Ending)
		lines = append(lines, l)
	}
	if text.String() != string(file.Bytes()) {
		t.Fatal("the concatenated lines differ from the file")
	}
	return lines
}

func checkGroup(t *testing.T, file *File, g *Group, lines []Line) {
	t.Helper()
	last := 0
	for _, r := range g.Rules() {
		if r.Line < last || r.Line > len(lines) {
			t.Fatalf("rule %v of line %d after line %d", r, r.Line, last)
		}
		last = r.Line
		l := lines[r.Line-1]
		if r.Allow != (l.Directive == DirectiveAllow) || !strings.Contains(l.Value, r.Pattern) {
			t.Fatalf("rule %v is not line %q", r, l.Raw)
		}
	}
	for _, target := range []string{"/", "/a/b", "/x%2fy?z", "//../" + g.Token()} {
		if v := g.Match(target); v.Rule().Line > 0 && v.Allowed != v.Rule().Allow {
			t.Fatalf("Match(%q) = %v by %v", target, v.Allowed, v.Rule())
		}
	}
	if d, ok := g.CrawlDelay(); ok && d.Delay < 0 {
		t.Fatalf("Crawl-delay %v", d)
	}
	for _, r := range g.RequestRates() {
		if r.Requests < 1 || r.Per <= 0 {
			t.Fatalf("Request-rate %v", r)
		}
	}
}

func FuzzViews(f *testing.F) {
	for _, s := range []string{"/", "//a/../b", "/%2e%2e/%2fa?b=%2f", "http://u@h/x;y=1", "http:a/b", "*", "/a%", "/\xff\x00\\"} {
		f.Add(s, uint8(0))
		f.Add(s, uint8(15))
	}
	f.Fuzz(func(t *testing.T, target string, o uint8) {
		options := ViewOptions{FoldCase: o&1 != 0, StripParams: o&2 != 0, DecodeTwice: o&4 != 0, Windows: o&8 != 0}
		var v Views
		v.Reset(target, options)
		for _, s := range targets(&v) {
			checkCanonical(t, s)
		}
		if n := len(v.views); n > 110 {
			t.Fatalf("%q has %d views", target, n)
		}
		// A path as served has no other views.
		for i := 1; i < len(v.views); i++ {
			if x := &v.views[i]; options == (ViewOptions{}) && !strings.Contains(target, "#") {
				path, _, _ := strings.Cut(v.text(x.target), "?")
				if strings.Contains(path+"/", "/./") || strings.Contains(path+"/", "/../") {
					t.Fatalf("%q has the view %q", target, path)
				}
				if strings.Contains(path, "//") || strings.Contains(path, "%2F") {
					continue
				}
				var again Views
				if again.Reset(v.text(x.target), options); len(targets(&again)) > 1 {
					t.Fatalf("%q is a path as served, but its views are %q", v.text(x.target), targets(&again))
				}
			}
		}
		// The fast path of Reset gives the same result as resetSlow.
		first, literal := strings.Clone(v.requested.target), strings.Clone(v.requested.literal)
		v.resetSlow(target, options)
		if v.requested.target != first || v.requested.literal != literal {
			t.Fatalf("%q: Reset gives %q, resetSlow %q", target, first, v.requested.target)
		}
	})
}

func checkCanonical(t *testing.T, s string) {
	t.Helper()
	if !strings.HasPrefix(s, "/") {
		t.Fatalf("%q does not start with a slash", s)
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f || s[i] == '#' {
			t.Fatalf("%q is not canonical at %d", s, i)
		}
		if s[i] == '%' {
			if _, ok := canonical.Unescape(s, i); !ok {
				t.Fatalf("%q has an invalid escape at %d", s, i)
			}
		}
	}
}
