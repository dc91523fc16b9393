package nearmiss

import (
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/robots"
)

func TestNear(t *testing.T) {
	for _, tt := range []struct {
		name, lines, target string
		add                 string // "": no miss
	}{
		{"$ before a slash", "Disallow: /similar$", "/similar/", "/similar/"},
		{"$ before a folder", "Disallow: /similar$", "/similar/a", "/similar/"},
		{"$ before a query", "Disallow: /similar$", "/similar?a=1", "/similar?"},
		{"$ within a word", "Disallow: /similar$", "/similarity", ""},
		{"$ behind a star", "Disallow: /*.php$", "/a/b.php?x=1", "/*.php?"},
		{"a slash missing", "Disallow: /private/", "/private", "/private$"},
		{"a slash missing before a query", "Disallow: /private/", "/private?a=1", "/private?"},
		{"a slash missing before a star", "Disallow: /private/*", "/private", "/private$"},
		{"a slash missing before $", "Disallow: /private/$", "/private", "/private$"},
		{"another word", "Disallow: /private/", "/privateer", ""},
		{"the home page", "Disallow: //", "/", ""},
		{"all folders", "Disallow: /*/", "/a", ""},
		{"case", "Disallow: /Private/", "/private/x", "/private/"},
		{"case of a word", "Disallow: /Search", "/search?q=1", "/search"},
		{"case of another word", "Disallow: /Search", "/searching", ""},
		{"case of a letter", "Disallow: /A", "/a", ""},
		{"case behind a star", "Disallow: /*/Feed$", "/blog/FEED", "/*/FEED$"},
		{"case beside an escape", "Disallow: /Caf%C3%A9/", "/caf%C3%A9/x", ""},
		{"case of a name's end", "Disallow: /*.PDF$", "/a.pdf.pdf", "/*.pdf$"},
		{"case and a query", "Disallow: /*?Sort=", "/a%C3%A9?x=1&sort=b", ""},
		{"case in a query", "Disallow: /*?*Sort=", "/a%C3%A9?x=1&sort=b", "/*?*sort="},
		{"escaped twice in the file", "Disallow: /caf%25C3%25A9", "/caf%C3%A9", "/caf%C3%A9"},
		{"escaped twice by the robot", "Disallow: /café", "/caf%25C3%25A9/x", "/caf%25C3%25A9"},
		{"two differences", "Disallow: /Similar$", "/similar/", ""},
		{"another rule allows", "Disallow: /similar$\nAllow: /similar/a", "/similar/a", ""},
		{"a shorter rule allows", "Disallow: /Private/\nAllow: /", "/private/", "/private/"},
		{"the same rule in its case allows", "Disallow: /Private/\nAllow: /private/", "/private/", ""},
		{"a star in the path", "Disallow: /%2AA/", "/%2Aa/", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := robots.ParseText("User-agent: *\n" + tt.lines + "\n\nUser-agent: b\nDisallow: /b\n")
			if !f.Allowed("a", tt.target) {
				t.Fatal("the target is disallowed")
			}
			r := New(f)
			m, ok := r.Near(f.Star(), tt.target)
			if strings.TrimPrefix(m.Add, "Disallow: ") != tt.add || ok != (tt.add != "") || ok && m.Line != 2 {
				t.Errorf("%+v, want %q", m, tt.add)
			}
			if m, ok := r.Near(f.Named("b"), tt.target); ok {
				t.Errorf("a rule of another group: %+v", m)
			}
		})
	}
	if m, ok := New(robots.ParseText("User-agent: *\nDisallow: /a$\n", robots.WithDialect(robots.Koster1994))).Near(nil, "/a$/"); ok {
		t.Errorf("in the dialect of 1994: %+v", m)
	}
}

// FuzzNear checks that the line to add disallows the target, and changes verdicts only on
// paths that differ by no more than what misses are.
func FuzzNear(f *testing.F) {
	f.Add("/similar$", "/", "/similar/", "/similarity")
	f.Add("/Private/", "/pri", "/private/", "/privateer")
	f.Add("/caf%C3%A9", "/x", "/caf%25C3%25A9", "/caf%c3%a9")
	f.Add("/a/*.B$", "/a", "/a/x.b", "/a/x.b?c")
	f.Add("*/b/", "/*", "/a/b", "/b")
	f.Fuzz(func(t *testing.T, disallow, allow, target, other string) {
		if strings.ContainsAny(disallow+allow, "#\r\n") {
			return
		}
		lines := "User-agent: *\nAllow: " + allow + "\nDisallow: " + disallow + "\n"
		file := robots.ParseText(lines)
		if !file.Allowed("*", target) {
			return
		}
		m, ok := New(file).Near(file.Star(), target)
		if !ok {
			return
		}
		after := robots.ParseText(lines + m.Add + "\n")
		switch {
		case m.Line != 3:
			t.Fatalf("%+v: the line of %q", m, lines)
		case after.Allowed("*", target):
			t.Errorf("%q: %q does not disallow %q", lines, m.Add, target)
		case !after.Allowed("*", "/"):
			t.Errorf("%q: %q disallows the home page", lines, m.Add)
		case file.Allowed("*", other) && !after.Allowed("*", other) && !differs(disallow, other):
			t.Errorf("%q: %q disallows %q", lines, m.Add, other)
		}
	})
}

// differs reports whether a pattern disallows a path, or would disallow it in another
// case, with other escapes, or with or without a slash or anything behind it.
func differs(pattern, path string) bool {
	f := robots.ParseText("User-agent: *\nDisallow: " + pattern + "\n")
	decoded := robots.ParseText("User-agent: *\nDisallow: " + strings.ReplaceAll(pattern, "%25", "%") + "\n")
	var v robots.Views
	v.Reset(path, robots.ViewOptions{FoldCase: true, DecodeTwice: true})
	if !f.Star().MatchViews(&v).Allowed || !decoded.Allowed("*", path) {
		return true
	}
	for i := 1; i <= len(path); i++ {
		if i == len(path) || path[i] == '/' || path[i] == '?' {
			if !f.Allowed("*", path[:i]) || !f.Allowed("*", path[:i]+"/") {
				return true
			}
		}
	}
	return false
}
