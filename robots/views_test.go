package robots

import (
	"strings"
	"testing"
)

// The path that a back end serves for a target, as in Caddy's file_server,
// nginx and net/http.
func TestViewsServed(t *testing.T) {
	tests := []struct{ name, target, first, served string }{
		{"an ordinary path", "/private/x.html", "/private/x.html", "/private/x.html"},
		{"with a query", "/a/b?c=d/../e//f", "/a/b?c=d/../e//f", "/a/b?c=d/../e//f"},
		{"empty", "", "/", "/"},
		{"OPTIONS *", "*", "/", "/"},
		{"only a query", "?a=b", "/?a=b", "/?a=b"},
		{"two slashes at the start", "//private/x.html", "//private/x.html", "/private/x.html"},
		{"two slashes within", "/private//x.html", "/private//x.html", "/private/x.html"},
		{"a dot segment at the start", "/./private/x.html", "/./private/x.html", "/private/x.html"},
		{"a .. segment", "/a/../private/x.html", "/a/../private/x.html", "/private/x.html"},
		{"a .. segment at the root", "/../../private/", "/../../private/", "/private/"},
		{"a .. segment after an empty segment", "/a//../private/", "/a//../private/", "/private/"},
		{"a dot at the end", "/private/.", "/private/.", "/private/"},
		{"an escaped dot at the end", "/private/%2e", "/private/.", "/private/"},
		{"a .. segment at the end", "/private/deep/..", "/private/deep/..", "/private/"},
		{"a .. segment that leads to the root", "/private/..", "/private/..", "/"},
		{"three dots are a name", "/private/...", "/private/...", "/private/..."},
		{"a hidden file", "/.git/config", "/.git/config", "/.git/config"},
		{"an escaped letter", "/%70rivate/x.html", "/private/x.html", "/private/x.html"},
		{"an escaped slash", "/private%2fx.html", "/private%2Fx.html", "/private/x.html"},
		{"escaped dots", "/private/%2e%2e/private/x.html", "/private/../private/x.html", "/private/x.html"},
		{"escaped dots and slash", "/a/..%2fprivate/x.html", "/a/..%2Fprivate/x.html", "/private/x.html"},
		{"double encoding is decoded once", "/%2570rivate", "/%2570rivate", "/%2570rivate"},
		{"a backslash is no slash", `/private\x`, `/private\x`, `/private\x`},
		{"an escaped backslash", `/private%5Cx`, `/private\x`, `/private\x`},
		{"NUL", "/a%00b\x00c", "/a%00b%00c", "/a%00b%00c"},
		{"invalid escapes", "/100%/%zz/%4", "/100%25/%25zz/%254", "/100%25/%25zz/%254"},
		{"an escaped question mark is no query", "/a%3Fb?c", "/a%3Fb?c", "/a%3Fb?c"},
		{"non-ASCII", "/ツ", "/%E3%83%84", "/%E3%83%84"},
		{"non-ASCII escaped", "/%e3%83%84", "/%E3%83%84", "/%E3%83%84"},
		{"reserved octets", "/a%3Ab%40c%2C", "/a:b@c,", "/a:b@c,"},
		{"a hash", "/a#b", "/a%23b", "/a%23b"},
		{"path parameters are kept", "/a;x=1/b", "/a;x=1/b", "/a;x=1/b"},
		{"absolute form", "http://other.test/private/", "/private/", "/private/"},
		{"absolute form without a path", "http://other.test", "/", "/"},
		{"absolute form with only a query", "http://other.test?x", "/?x", "/?x"},
		{"absolute form, another scheme", "gopher+x-1.0://u:p@h:70/private//x", "/private//x", "/private/x"},
		{"a scheme and a path without a slash", "http:private/x.html", "/private/x.html", "/private/x.html"},
		{"a scheme and a path", "http:/private/x.html", "/private/x.html", "/private/x.html"},
		{"a colon in a path", "/a:b", "/a:b", "/a:b"},
		{"no slash at the start", "private/x", "/private/x", "/private/x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var v Views
			v.Reset(tt.target, ViewOptions{})
			if !v.differ {
				v.served = v.requested
			}
			if v.requested.target != tt.first || v.served.target != tt.served {
				t.Errorf("Reset(%q): as requested %q, as served %q; want %q, %q",
					tt.target, v.requested.target, v.served.target, tt.first, tt.served)
			}
			if v.differ != (tt.first != tt.served) {
				t.Errorf("Reset(%q): differ = %v", tt.target, v.differ)
			}
		})
	}
}

func TestViewOptions(t *testing.T) {
	tests := []struct {
		name, target, served string
		options              ViewOptions
	}{
		{"case", "/PRIVATE/X?Q=A", "/private/x?q=a", ViewOptions{FoldCase: true}},
		{"params", "/a;x=1/b;y", "/a/b", ViewOptions{StripParams: true}},
		{"path parameters as in Tomcat", "/a;x=%2F..%2Fb/c", "/a/c", ViewOptions{StripParams: true}},
		{"escaped params", "/a%3Bx=1/b", "/a/b", ViewOptions{StripParams: true}},
		{"path parameters after dots", "/a/..;x/b", "/b", ViewOptions{StripParams: true}},
		{"double encoding", "/%2570rivate/%252e%252e/x", "/x", ViewOptions{DecodeTwice: true}},
		{"the query has no params", "/a?b;c", "/a?b;c", ViewOptions{StripParams: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var v Views
			v.Reset(tt.target, tt.options)
			if v.served.target != tt.served {
				t.Errorf("Reset(%q, %+v): as served %q, want %q", tt.target, tt.options, v.served.target, tt.served)
			}
		})
	}
}

// A target that is disallowed in one view is disallowed, and the verdict has
// the rule of that view.
func TestMatchViews(t *testing.T) {
	g := Parse([]byte(strings.Join([]string{
		"User-agent: *",
		"Disallow: /private/",
		"Allow: /private/ok",
		"Disallow: /a%2Fb",
		"Disallow: /*/admin",
		"Disallow: /go?to=https://x.test/",
		"Disallow: /s%2At",
		"Disallow: /cost%24",
	}, "\n"))).Star()
	tests := []struct {
		target  string
		allowed bool
		line    int
	}{
		{"/private/x", false, 2},
		{"/private%2Fx", false, 2},
		{"/private/ok", true, 3},
		{"/x/..//private/ok", true, 3},
		{"/private/ok/../x", false, 2},
		{"/a%2fb", false, 4},
		{"/a/b", true, 0},
		{"/x/admin", false, 5},
		{"/login?next=/admin", false, 5},
		{"/login?next=%2Fadmin", true, 0}, // a usual spelling; the canonical form has no slash here
		{"/go?to=https://x.test/", false, 6},
		{"/go?to=https%3A%2F%2Fx.test%2F", false, 6}, // RFC 9309, section 2.2.2, table
		{"/go?to=https:%2f/x.test/", false, 6},
		{"/s*t", false, 7},
		{"/s%2at", false, 7},
		{"/sxt", true, 0},
		{"/cost$", false, 8},
		{"/cost$s", false, 8},
		{"/cost", true, 0},
		{"/robots.txt", true, 0},
		{"/robots.txt?x=/admin", true, 0},
	}
	var v Views
	for _, tt := range tests {
		v.Reset(tt.target, ViewOptions{})
		if got := g.MatchViews(&v); got.Allowed != tt.allowed || got.Rule().Line != tt.line {
			t.Errorf("MatchViews(%q) = %v by line %d, want %v by line %d", tt.target, got.Allowed, got.Rule().Line, tt.allowed, tt.line)
		}
	}
}

// An Allow rule with a part that no path as served has, such as //, also allows
// the path as served.
func TestMatchViewsServedSpellings(t *testing.T) {
	g := Parse([]byte(strings.Join([]string{
		"User-agent: *",
		"Disallow: /web/",
		"Allow: /web/*/http://good.test/",
		"Allow: /web/a%2Fb",
		"Allow: /web/./x/../y",
		"Disallow: /*//no",
		"Disallow: /*%2Fno",
	}, "\n"))).Star()
	tests := []struct {
		target  string
		allowed bool
	}{
		{"/web/2020/http://good.test/", true},
		{"/web/2020/http://bad.test/", false},
		{"/web/a%2Fb", true},
		{"/web/a/b", false},
		{"/web/./x/../y", true},
		{"/a//no", false},
		{"/a%2Fno", false},
		{"/a/no", true},
		{"/b//a/no", true}, // a Disallow rule is not rewritten
	}
	var v Views
	for _, tt := range tests {
		v.Reset(tt.target, ViewOptions{})
		if got := g.MatchViews(&v); got.Allowed != tt.allowed {
			t.Errorf("MatchViews(%q) = %v by line %d, want %v", tt.target, got.Allowed, got.Rule().Line, tt.allowed)
		}
	}
}

func TestMatchViewsFoldCase(t *testing.T) {
	g := Parse([]byte("User-agent: *\nDisallow: /Private/*.PHP$\nAllow: /private/Index.php\n")).Star()
	var v Views
	for target, allowed := range map[string]bool{
		"/private/x.php":        false,
		"/PRIVATE/X.PHP":        false,
		"/Private/x.PHP":        false,
		"/private/INDEX.php":    true,
		"/private/x.html":       true,
		"/%70RIVATE/%e3%83.php": false,
	} {
		v.Reset(target, ViewOptions{FoldCase: true})
		if got := g.MatchViews(&v); got.Allowed != allowed {
			t.Errorf("MatchViews(%q) = %v, want %v", target, got.Allowed, allowed)
		}
	}
}

// Some back ends serve a path that ends in `/.` as a folder, others as the file
// before the slash. The path is disallowed if one of these is disallowed.
func TestMatchViewsDotAtEnd(t *testing.T) {
	file := Parse([]byte("User-agent: *\nDisallow: /*.pdf$\nDisallow: /folder/\nDisallow: /*.php?id=1$\n"))
	for target, allowed := range map[string]bool{
		"/x.pdf/.": false, "/x.pdf/%2e": false, "/x.pdf/%2E": false, "//x.pdf/./.": false, "/a/..%2fx.pdf/.": false,
		"/folder/.": false, "//folder/%2e": false, "/x.php/.?id=1": false,
		"/x.pdf/..": true, "/x.html/.": true, "/.": true, "/x.pdf.": true, "/robots.txt/.": true,
	} {
		var v Views
		v.Reset(target, ViewOptions{})
		if got := file.Star().MatchViews(&v).Allowed; got != allowed {
			t.Errorf("%s is allowed: %v", target, got)
		}
	}
}
