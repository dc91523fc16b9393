package reference

import "testing"

// RFC 9309, sections 2.2.2 and 2.2.3. The lengths are octets.
func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		pattern, target string
		want            bool
		length          int
	}{
		{"/a", "/a", true, 2},
		{"/a", "/abc", true, 2},
		{"/a", "/", false, 2},
		{"/a", "/A", false, 2},
		{"a", "/a", false, 0}, // starts with neither / nor *
		{"", "/a", false, 0},
		{"*a", "/xa", true, 2},
		{"/*.gif", "/b/a.gif?x", true, 6},
		{"/*.gif$", "/a.gif", true, 7},
		{"/*.gif$", "/a.gif?x", false, 7},
		{"/a*", "/a", true, 3},
		{"/$", "/", true, 2},
		{"/$", "/a", false, 2},
		{"/a$b", "/a$b", true, 4}, // $ is special only at the end
		// The table of section 2.2.2
		{"/foo/bar?baz=quz", "/foo/bar?baz=quz", true, 16},
		{"/foo/bar?baz=http://foo.bar", "/foo/bar?baz=http%3A%2F%2Ffoo.bar", true, 27},
		{"/foo/bar/\u30c4", "/foo/bar/%E3%83%84", true, 18},
		{"/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84", true, 18},
		{"/foo/bar/%62%61%7A", "/foo/bar/baz", true, 12},
		// Escapes of delimiters
		{"/a%2Fb", "/a/b", false, 6},
		{"/a%2Fb", "/a%2fb", true, 6},
		{"/a?b=%26", "/a?b=&", false, 8},
		{"/*/b", "/a?x=%2Fb", false, 4},
		{"/*/b", "/a?x=/b", true, 4},
		// Section 2.2.3: literal * and $
		{"/a%2Ab", "/a*b", true, 6},
		{"/a%24", "/a$", true, 5},
		{"/a%24", "/a", false, 5},
	} {
		if got, length := Match(tt.pattern, tt.target); got != tt.want || length != tt.length {
			t.Errorf("Match(%q, %q) = %v, %d, want %v, %d", tt.pattern, tt.target, got, length, tt.want, tt.length)
		}
	}
}

func TestVerdict(t *testing.T) {
	rules := []Rule{
		{false, "/a"},
		{true, "/a/b"},
		{false, "/a/b/c"},
		{true, "/x"},
		{false, "/x"},
		{false, "/*.php$"},
	}
	for _, tt := range []struct {
		target  string
		allowed bool
		length  int
	}{
		{"/", true, 0}, // no rule matches
		{"/a", false, 2},
		{"/a/b", true, 4},
		{"/a/b/c", false, 6},
		{"/x", true, 2}, // Allow and Disallow have the same length
		{"/x.php", false, 7},
		{"/y.php", false, 7},
	} {
		if allowed, length := Verdict(rules, tt.target); allowed != tt.allowed || length != tt.length {
			t.Errorf("Verdict(%q) = %v, %d, want %v, %d", tt.target, allowed, length, tt.allowed, tt.length)
		}
	}
	all := []Rule{{false, "/"}}
	for target, want := range map[string]bool{"/robots.txt": true, "/robots.txt?x": true, "/robots.txt.bak": false, "/x": false} {
		if allowed, _ := Verdict(all, target); allowed != want {
			t.Errorf("Verdict(%q) with everything disallowed = %v, want %v", target, allowed, want)
		}
	}
}
