package canonical

import (
	"strings"
	"testing"
)

// RFC 9309, section 2.2.2
func TestAppend(t *testing.T) {
	for _, tt := range []struct {
		s, path, query string // the canonical forms of s in a path and in a query
	}{
		{"/a-b_c.d~", "/a-b_c.d~", "/a-b_c.d~"},
		{"/%61%2D%7E", "/a-~", "/a-~"}, // escapes that are not necessary
		{"\u30c4", "%E3%83%84", "%E3%83%84"},
		{"%e3%83%84", "%E3%83%84", "%E3%83%84"},
		{" \x00#\x7f", "%20%00%23%7F", "%20%00%23%7F"},
		{"%2f%3F", "%2F%3F", "/?"}, // delimiters in a path
		{"%26%3d%2B%3b", "&=+;", "%26%3D%2B%3B"},
		{"%3A%40%2C", ":@,", ":@,"},
		{"%25%", "%25%25", "%25%25"},
		{"%zz%4", "%25zz%254", "%25zz%254"}, // not escapes
	} {
		if got := string(Append([]byte("x"), tt.s, Path)); got != "x"+tt.path {
			t.Errorf("Append(%q, Path) = %q, want %q", tt.s, got, "x"+tt.path)
		}
		if got := string(Append(nil, tt.s, Query)); got != tt.query {
			t.Errorf("Append(%q, Query) = %q, want %q", tt.s, got, tt.query)
		}
		if again := string(Append(nil, tt.path, Path)); again != tt.path {
			t.Errorf("the canonical form of %q is %q", tt.path, again)
		}
	}
}

func TestAppendDecodedAndEncoded(t *testing.T) {
	for s, want := range map[string]string{"/a%2Fb": "/a/b", "/%2561": "/%61", "/100%": "/100%", "/%3f%00": "/?\x00"} {
		decoded := AppendDecoded(nil, s)
		if string(decoded) != want {
			t.Errorf("AppendDecoded(%q) = %q, want %q", s, decoded, want)
		}
	}
	if got := string(AppendEncoded(nil, []byte("/a b?%#\xff"))); got != "/a%20b%3F%25%23%FF" {
		t.Errorf("AppendEncoded = %q", got)
	}
}

// IsPlain tests eight octets at a time. The result must not depend on the
// position of an octet or of a pair.
func TestIsPlainAtEveryPosition(t *testing.T) {
	for c := range 256 {
		for at := 1; at < 20; at++ {
			s := []byte("/" + strings.Repeat("a", 20))
			s[at] = byte(c)
			want := c > ' ' && c < 0x7f && c != '#' && c != '%' && !(at == 1 && (c == '/' || c == '.'))
			if got := IsPlain(string(s)); got != want {
				t.Fatalf("IsPlain(%q) = %v, want %v", s, got, want)
			}
		}
	}
	for at := 1; at < 18; at++ {
		for _, pair := range []string{"//", "/.", "/a", "./"} {
			s := "/" + strings.Repeat("a", at) + pair + strings.Repeat("a", 18-at)
			if want := pair != "//" && pair != "/."; IsPlain(s) != want {
				t.Errorf("IsPlain(%q) = %v, want %v", s, !want, want)
			}
		}
	}
	for s, want := range map[string]bool{"": false, "/": true, "a": false, "/a": true, "//": false, "/.": false, "aaaaaaaaaa": false} {
		if IsPlain(s) != want {
			t.Errorf("IsPlain(%q) = %v, want %v", s, !want, want)
		}
	}
}

func TestAppendGoogle(t *testing.T) {
	for s, want := range map[string]string{"/a b#": "/a b#", "/%7e%c3%A9": "/%7E%C3%A9", "/\u00e9": "/%C3%A9", "/%z%": "/%z%"} {
		if got := string(AppendGoogle(nil, s)); got != want {
			t.Errorf("AppendGoogle(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestLower(t *testing.T) {
	for s, want := range map[string]string{"": "", "abc": "abc", "GoogleBot-1": "googlebot-1", "\u00c4B": "\u00c4b"} {
		if got := Lower(s); got != want {
			t.Errorf("Lower(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestAppendLower(t *testing.T) {
	for s, want := range map[string]string{
		"": "", "/aB%2F": "/ab%2F", "/%C3%89%C3%A9": "/%C3%A9%C3%A9", "/%C3": "/%C3", "/%C3%89%FF%C3": "/%C3%A9%FF%C3", "/%": "/%", "/%E2%84%AA": "/k",
	} {
		if got := string(AppendLower([]byte("x"), s)); got != "x"+want {
			t.Errorf("AppendLower(%q) = %q, want %q", s, got, "x"+want)
		}
	}
}

func TestCleanPath(t *testing.T) {
	for s, want := range map[string][2]string{ // with empty segments merged, and kept
		"/": {"/", "/"}, "//": {"/", "//"}, "/a/./b/../c": {"/a/c", "/a/c"}, "/a//../b": {"/b", "/a/b"}, "/a/..//b": {"/b", "//b"},
		"/a//b/./": {"/a/b/", "/a//b/"}, "/..": {"/", "/"}, "/a/.": {"/a/", "/a/"}, "/a//": {"/a/", "/a//"}, "/.../..a": {"/.../..a", "/.../..a"},
	} {
		if merged, kept := string(CleanPath([]byte(s), true)), string(CleanPath([]byte(s), false)); merged != want[0] || kept != want[1] {
			t.Errorf("CleanPath(%q) = %q, %q, want %q", s, merged, kept, want)
		}
	}
}

func TestWindows(t *testing.T) {
	for s, want := range map[string]string{
		`/a\b/c`: "/a/b/c", "/a. . /b..": "/a/b", "/a/..\\b": "/a/../b", "/.. /b": "/../b", "/./a": "/./a", "/...": "/", `/a\`: "/a/", `/\\a`: "///a",
		"/x::$DATA": "/x", "/x:y:$DATA/z": "/x/z", "/x:y": "/x:y", "/x.::$I": "/x", "/. .": "/.",
	} {
		if got := string(Windows([]byte(s), " ")); got != want {
			t.Errorf("Windows(%q) = %q, want %q", s, got, want)
		}
	}
	if got := string(Windows([]byte("/a%20.%20/b%20c"), "%20")); got != "/a/b%20c" {
		t.Errorf("escaped blanks: %q", got)
	}
}
