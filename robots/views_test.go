package robots

import (
	"slices"
	"strings"
	"testing"
)

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
			if !slices.Contains(targets(&v), tt.served) {
				t.Errorf("Reset(%q, %+v): views %q, want %q", tt.target, tt.options, targets(&v), tt.served)
			}
		})
	}
}

// targets returns all views, except those for Google's reading.
func targets(v *Views) []string {
	list := []string{v.requested.target}
	for i := 1; i < len(v.views); i++ {
		if x := &v.views[i]; !x.escaped {
			list = append(list, v.text(x.target))
		}
	}
	return list
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

// A rule with a part that no path as served has, such as `//` or %2F, names one
// spelling of a path. A Disallow rule disallows this spelling, also behind dot
// segments and repeated slashes, and not the path as served. An Allow rule allows this
// spelling alone, and its length is that of the path as served.
func TestMatchViewsVariants(t *testing.T) {
	for _, tt := range []struct {
		rules          string
		denied, passed []string
	}{
		{"Disallow: /api/g%2Fp",
			[]string{"/api/g%2Fp", "/api/g%2fp", "/./api/g%2Fp", "/api//g%2Fp", "/x/../api/g%2Fp/y", "/%61pi/./g%2Fp", "/api/g%2Fp/."},
			[]string{"/api/g/p", "/api/g//p", "/api/./g/p"}},
		{"Disallow: /api/g%2Fp$", []string{"/api/g%2Fp", "/api/g%2Fp/.", "/api/g%2Fp/x/.."}, []string{"/api/g%2Fp/"}},
		{"Disallow: /a//b", []string{"/a//b", "/./a//b", "/x/../a//b"}, []string{"/a/b", "/a/./b"}},
		{"Disallow: /*//", []string{"/a//b"}, []string{"/a/b", "/a/http%3A%2F%2Fx.test"}},
		{"Disallow: /a/\nAllow: /a//b", []string{"/a/b", "/./a/b", "/a/./b", "/a%2Fb", "/a///b"}, []string{"/a//b", "/a//b/c"}},
		{"Disallow: /a/\nAllow: /a/%2Fc", []string{"/a/c", "/./a/c", "/a//c"}, []string{"/a/%2Fc", "/a/%2fc"}},
		{"Disallow: /p\nAllow: //", []string{"/p", "/x/../p", "//p"}, []string{"//q", "/x/../q"}},
		{"Disallow: /\nAllow: //", []string{"/p", "/x/../p", "//p"}, nil},
		{"Disallow: /secret/\nAllow: /public/../", []string{"/secret/x", "/public/../secret/x", "/./secret/x"}, []string{"/public/../x"}},
		{"Disallow: /web/\nAllow: /web/*/http://good.test/\nAllow: /web/a%2Fb\nAllow: /web/./x/../y",
			[]string{"/web/2020/http://bad.test/", "/web/a/b", "/web/2020/http://good.test/../../../x", "/web/2020//http://good.test/%2e%2e/x"},
			[]string{"/web/2020/http://good.test/", "/web/a%2Fb", "/web/./x/../y"}},
		{"Disallow: /*//no\nDisallow: /*%2Fno", []string{"/a//no", "/a%2Fno"}, []string{"/a/no", "/b//a/no"}},
	} {
		for _, d := range []Dialect{RFC9309, Google} {
			g := Parse([]byte("User-agent: *\n"+tt.rules+"\n"), WithDialect(d)).Star()
			var v Views
			for i, target := range slices.Concat(tt.denied, tt.passed) {
				v.Reset(target, ViewOptions{})
				if got := g.MatchViews(&v); got.Allowed != (i >= len(tt.denied)) {
					t.Errorf("%s, %s: %q is allowed: %v by %v", tt.rules, d, target, got.Allowed, got.Rule())
				}
			}
		}
	}
	g := Parse([]byte("User-agent: *\nAllow: /a//b\nDisallow: /a/\n"), WithDialect(Koster1994)).Star()
	var v Views
	for target, allowed := range map[string]bool{"/a//b": true, "/a/b": false, "/./a/b": false} {
		if v.Reset(target, ViewOptions{}); g.MatchViews(&v).Allowed != allowed {
			t.Errorf("the first match decides: %q is allowed: %v", target, !allowed)
		}
	}
}

// An option adds views to those without it.
func TestMatchViewsOptionsAdd(t *testing.T) {
	for _, tt := range []struct {
		rule    string
		options ViewOptions
		denied  []string
	}{
		{"/a;x=1", ViewOptions{StripParams: true}, []string{"/a;x=1", "//a;x=1", "/z/..%2fa;x=1"}},
		{"/b;y", ViewOptions{StripParams: true}, []string{"/p;z/..%2fb;y", "/b%3By"}},
		{"/a%2541", ViewOptions{DecodeTwice: true}, []string{"/a%2541", "//a%2541", "/z/..%2fa%2541"}},
		{"/*/private", ViewOptions{FoldCase: true}, []string{"//private", "//PRIVATE", "/x/Private"}},
		{"/private", ViewOptions{StripParams: true, DecodeTwice: true, FoldCase: true}, []string{"/PRIVATE", "//private;x", "/%2570rivate", "/%2570Riva%74e%253Bx"}},
		{"/*;jsessionid=", ViewOptions{StripParams: true, FoldCase: true}, []string{"/a;JSESSIONID=1", "/a%3BJSessionID=1?b"}},
		{"/*.jsp$", ViewOptions{StripParams: true, FoldCase: true}, []string{"/A.JSP;JSESSIONID=1", "/a.jsp%3bJSESSIONID=1"}},
		{"/Admin/", ViewOptions{StripParams: true, FoldCase: true}, []string{"/ADMIN;JSESSIONID=1/x", "/admin;jsessionid=1/"}},
		{"/Private", ViewOptions{FoldCase: true}, []string{"/Private", "//Private", "/private"}},
		{"/éσ", ViewOptions{FoldCase: true}, []string{"/ÉΣ", "/%c3%89%CF%82", "/%C3%A9%CF%83"}},
		{"/*.pdf$", ViewOptions{}, []string{"/x.pdf#y", "/./x.pdf#y/z?a", "/x.pdf"}},
	} {
		g := Parse([]byte("User-agent: *\nDisallow: " + tt.rule + "\n")).Star()
		var v Views
		for _, target := range tt.denied {
			if v.Reset(target, tt.options); g.MatchViews(&v).Allowed {
				t.Errorf("Disallow: %s, %+v: %q is allowed, with the views %q", tt.rule, tt.options, target, targets(&v))
			}
		}
	}
}

// On Windows, file servers take `\` for a slash, ignore case, and ignore dots and
// blanks at the end of a segment.
func TestMatchViewsWindows(t *testing.T) {
	g := Parse([]byte("User-agent: *\nDisallow: /private/\nDisallow: /*.pdf$\nDisallow: /x\\y\n")).Star()
	var v Views
	for target, windows := range map[string]bool{ // target: only Windows disallows it
		`/.well-known/..\private/`: true, `\private\x`: true, "/a%5C..%5cprivate%5Cx": true, `/private\`: true,
		"/private./x": true, "/private%20/x": true, "/private.%20./x": true, "/PRIVATE/x": true, "/x/...\\..%20/private/x": true,
		"/x.pdf.": true, "/x.pdf%20": true, "/x.pdf::$DATA": true, "/private::$INDEX_ALLOCATION/x": true, `/x.pdf\`: true, "/x.PDF": true,
		"/private/x": false, `/x\y`: false, "/a/..%2fprivate/": false,
	} {
		for _, o := range []ViewOptions{{}, {Windows: true}} {
			v.Reset(target, o)
			if got := g.MatchViews(&v).Allowed; got != (windows && !o.Windows) {
				t.Errorf("%q, %+v: allowed %v, with the views %q", target, o, got, targets(&v))
			}
		}
	}
	for _, target := range []string{"/", "/private", "/x.pdfs", "/x.pdf/", "/Special:Search", "/a.b/c", "/...", `/x/private\`} {
		if v.Reset(target, ViewOptions{Windows: true}); !g.MatchViews(&v).Allowed {
			t.Errorf("%q is disallowed, with the views %q", target, targets(&v))
		}
	}
}

// Some back ends serve a path that ends in a dot segment as a folder, others as the
// file before the slash. The path is disallowed if one of these is disallowed.
func TestMatchViewsDotAtEnd(t *testing.T) {
	file := Parse([]byte("User-agent: *\nDisallow: /*.pdf$\nDisallow: /folder/\nDisallow: /*.php?id=1$\n"))
	for target, allowed := range map[string]bool{
		"/x.pdf/.": false, "/x.pdf/%2e": false, "/x.pdf/%2E": false, "//x.pdf/./.": false, "/a/..%2fx.pdf/.": false,
		"/x.pdf/y/..": false, "/x.pdf/y/%2E%2e": false, "/folder/.": false, "//folder/%2e": false, "/x.php/.?id=1": false,
		"/x.pdf/..": true, "/x.html/.": true, "/.": true, "/x.pdf.": true, "/robots.txt/.": true,
	} {
		var v Views
		v.Reset(target, ViewOptions{})
		if got := file.Star().MatchViews(&v).Allowed; got != allowed {
			t.Errorf("%s is allowed: %v", target, got)
		}
	}
}
