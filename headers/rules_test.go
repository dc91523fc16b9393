package headers

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rule parses a line.
func rule(t testing.TB, line string) Setting {
	t.Helper()
	r, err := ParseSetting(strings.Fields(line))
	if err != nil {
		t.Fatalf("ParseSetting(%q): %v", line, err)
	}
	return r
}

func compile(t testing.TB, lines ...string) *Table {
	t.Helper()
	var list []Setting
	for _, line := range lines {
		list = append(list, rule(t, line))
	}
	rules, err := Compile(list)
	if err != nil {
		t.Fatalf("Compile(%q): %v", lines, err)
	}
	return rules
}

// TestMatch checks which requests a pattern matches. Names are compared as in
// Apache's <Files> and <FilesMatch> (httpd.apache.org/docs/2.4/mod/core.html),
// paths as in RFC 9309, sections 2.2.2 and 2.2.3.
func TestMatch(t *testing.T) {
	for _, test := range []struct {
		pattern  string
		yes, not []string
	}{
		{"*.pdf", []string{"/a.pdf", "/x/y/a.pdf", "/a.pdf?download", "/.pdf", "/a%2Epdf", "/x%2Fa.pdf", "/x/./a.pdf",
			"/a.pdf/.", "/a.pdf/b/..", "/a.pdf/%2e", "//a.pdf", "http://other.test/a.pdf", "/%61.pd%66"},
			[]string{"/a.PDF", "/a.pdf/", "/a.pdf/b", "/a.pdfx", "/?a.pdf", "/a?b=.pdf", "/a%252Epdf", "/", "/a.pdf/%2e%2e"}},
		{"report-*.docx", []string{"/report-1.docx", "/x/report-.docx", "/report-a-b.docx"}, []string{"/report.docx", "/xreport-1.docx", "/report-1.doc"}},
		{"secret.html", []string{"/secret.html", "/deep/down/secret.html", "/s%65cret.html"}, []string{"/secret.html.bak", "/xsecret.html", "/secret.html/"}},
		{"draft?.txt", []string{"/draft1.txt", "/draftä.txt", "/draft%C3%A4.txt"}, []string{"/draft.txt", "/draft12.txt"}},
		{"*draft*", []string{"/my-draft-1", "/draft", "/x/draftx"}, []string{"/draft/x", "/draf"}},
		{"a*b*c", []string{"/abc", "/a-b-b-c"}, []string{"/acb", "/ab", "/abcd"}},
		{"ab*ba", []string{"/abba", "/abxba"}, []string{"/aba"}},
		{"*", []string{"/", "/a", "/a/", "/a/b?c", "*", ""}, nil},
		{"/drafts/", []string{"/drafts/", "/drafts/x", "/drafts/x?y", "/%64rafts/x", "//drafts/x", "/a/../drafts/x", "/./drafts/", "/drafts%2Fx", "/drafts/?q"},
			[]string{"/drafts", "/Drafts/", "/a/drafts/", "/drafts2/"}},
		{"/drafts/*", []string{"/drafts/", "/drafts/x"}, []string{"/drafts"}},
		{"/*.php$", []string{"/a.php", "/x/a.php", "/a.php.php"}, []string{"/a.php?x", "/a.php5", "/a.php/x"}},
		{"/*?print", []string{"/a?print", "/a?print=1", "/a?x&b?print"}, []string{"/a?x&print", "/print"}},
		{"*/print/", []string{"/a/print/", "/print/x"}, []string{"/print"}},
		{"/a$", []string{"/a", "/%61", "//a"}, []string{"/ab", "/a/", "/a?"}},
		{"/a*$", []string{"/a", "/abc?d"}, []string{"/b"}},
		{"/caf%C3%A9", []string{"/café", "/caf%c3%a9", "/caf%C3%A9/x"}, []string{"/cafe"}},
		{"/a%2Fb", []string{"/a%2fb", "/a%2Fb"}, []string{"/a/b"}},
		{"/a%2Ab", []string{"/a*b", "/a%2ab"}, []string{"/axb"}},
		{"/a%24", []string{"/a$", "/a$b"}, []string{"/a"}},
		{`~ \.docx?$`, []string{"/a.doc", "/x/a.docx", "/a.do%63"}, []string{"/a.docx.txt", "/a.doc/", "/adoc"}},
		{`~ secret`, []string{"/my-secret-file", "/x/secret"}, []string{"/secret/x", "/x?secret"}},
		{`~ ^a.c$`, []string{"/abc", "/x/a.c"}, []string{"/abcd", "/xabc"}},
		{"not *.html", []string{"/a.pdf", "/", "/a.htm", "/x.html/"}, []string{"/a.html", "/x/b.htm%6c"}},
		{"not /public/", []string{"/", "/private/", "/publi"}, []string{"/public/", "/public/x", "/%70ublic/", "/x/../public/y"}},
		{`not ~ ^index\.`, []string{"/a.html", "/"}, []string{"/index.html", "/x/index.php"}},
	} {
		rules := compile(t, test.pattern+" noindex")
		for _, target := range test.yes {
			if m := rules.Match(target); m.Empty() {
				t.Errorf("pattern %s does not match %s", test.pattern, target)
			}
		}
		for _, target := range test.not {
			if m := rules.Match(target); !m.Empty() {
				t.Errorf("pattern %s matches %s", test.pattern, target)
			}
		}
	}
}

// header returns a response header with these X-Robots-Tag fields.
func header(values ...string) http.Header {
	h := http.Header{}
	for _, v := range values {
		h.Add("X-Robots-Tag", v)
	}
	return h
}

// TestApply checks that all matching rules are added, equal ones are merged,
// and of directives that contradict each other, the more restrictive one is
// kept.
func TestApply(t *testing.T) {
	for _, test := range []struct {
		name     string
		rules    []string
		target   string
		status   int
		media    string
		crawlers []string
		upstream []string
		want     []string
	}{
		{name: "one rule", rules: []string{"*.pdf nofollow, noindex"}, target: "/a.pdf", want: []string{"noindex, nofollow"}},
		{name: "none is written as none", rules: []string{"*.pdf none"}, target: "/a.pdf", want: []string{"none"}},
		{name: "all matching rules", rules: []string{"*.pdf noindex", "/drafts/ nofollow", "*.doc noarchive"}, target: "/drafts/a.pdf", want: []string{"noindex, nofollow"}},
		{name: "equal directives are merged", rules: []string{"*.pdf noindex", "/a.pdf noindex", "a.pdf NOINDEX"}, target: "/a.pdf", want: []string{"noindex"}},
		{name: "more restrictive limit wins", rules: []string{"* max-snippet:50", "*.pdf max-snippet:-1", "a.* max-snippet:20"}, target: "/a.pdf", want: []string{"max-snippet:20"}},
		{name: "noindex overrides index", rules: []string{"* index, follow", "*.pdf noindex"}, target: "/a.pdf", want: []string{"follow, noindex"}},
		{name: "noindex alone overrides indexifembedded", rules: []string{"* noindex indexifembedded", "*.pdf noindex"}, target: "/a.pdf", want: []string{"noindex"}},
		{name: "one value for each crawler", rules: []string{"* noarchive", "*.pdf googlebot: nofollow", "*.pdf bingbot: noindex", "a.pdf Googlebot: noindex"}, target: "/a.pdf",
			want: []string{"noarchive", "bingbot: noindex", "googlebot: noindex, nofollow"}},
		{name: "a value with a crawler's name is sent to all clients", rules: []string{"* googlebot: nofollow"}, target: "/", want: []string{"googlebot: nofollow"}},
		{name: "only, and the request is from that crawler", rules: []string{"* googlebot: only nofollow"}, target: "/", crawlers: []string{"googlebot-image", "Googlebot"}, want: []string{"googlebot: nofollow"}},
		{name: "only, and the request is from another crawler", rules: []string{"* googlebot: only nofollow"}, target: "/", crawlers: []string{"bingbot"}},
		{name: "only, and the request is from a person", rules: []string{"* googlebot: only nofollow"}, target: "/"},
		{name: "status", rules: []string{"status 404 noindex"}, target: "/", status: 404, want: []string{"noindex"}},
		{name: "other status", rules: []string{"status 404 noindex"}, target: "/", status: 410},
		{name: "status class", rules: []string{"status 4xx noindex"}, target: "/", status: 410, want: []string{"noindex"}},
		{name: "negated status class", rules: []string{"not status 2xx noindex"}, target: "/", status: 503, want: []string{"noindex"}},
		{name: "negated status class, status in the class", rules: []string{"not status 2xx noindex"}, target: "/", status: 204},
		{name: "media type", rules: []string{"type application/pdf noindex"}, target: "/x", media: "Application/PDF; charset=binary", want: []string{"noindex"}},
		{name: "any subtype", rules: []string{"type image/* noimageindex"}, target: "/x", media: "image/webp", want: []string{"noimageindex"}},
		{name: "other type", rules: []string{"type image/* noimageindex"}, target: "/x", media: "imagex/webp"},
		{name: "negated media type", rules: []string{"not type text/html noindex"}, target: "/x", media: "application/zip", want: []string{"noindex"}},
		{name: "negated media type, the same type", rules: []string{"not type text/html noindex"}, target: "/x", media: "text/html; charset=utf-8"},
		{name: "no media type", rules: []string{"not type text/html noindex", "type text/html noindex"}, target: "/x"},
		{name: "1xx", rules: []string{"* noindex"}, target: "/", status: 101},
		{name: "103", rules: []string{"* noindex"}, target: "/", status: 103},
		{name: "a 304 gets what a 200 gets", rules: []string{"* noindex", "status 2xx noarchive", "not status 200 none"}, target: "/", status: 304, want: []string{"noindex, noarchive"}},
		{name: "upstream value is kept", rules: []string{"* noindex"}, target: "/", upstream: []string{"noarchive"}, want: []string{"noarchive", "noindex"}},
		{name: "upstream has the directive already", rules: []string{"* noindex"}, target: "/", upstream: []string{"NoIndex,nofollow"}, want: []string{"NoIndex, nofollow"}},
		{name: "upstream has a part of the directives", rules: []string{"* none"}, target: "/", upstream: []string{"noindex"}, want: []string{"noindex", "nofollow"}},
		{name: "upstream is more restrictive", rules: []string{"* index, max-snippet:50, max-image-preview:large"}, target: "/", upstream: []string{"noindex, max-snippet:20", "max-image-preview:none"},
			want: []string{"noindex, max-snippet:20", "max-image-preview:none"}},
		{name: "upstream is less restrictive", rules: []string{"* noindex, max-snippet:20"}, target: "/", upstream: []string{"index, follow, max-snippet:50", "index"},
			want: []string{"follow", "noindex, max-snippet:20"}},
		{name: "noindex overrides indexifembedded of the upstream", rules: []string{"* noindex"}, target: "/", upstream: []string{"noindex, indexifembedded"}, want: []string{"noindex"}},
		{name: "indexifembedded does not weaken noindex of the upstream", rules: []string{"* noindex, indexifembedded"}, target: "/", upstream: []string{"noindex"}, want: []string{"noindex"}},
		{name: "upstream value with a crawler's name", rules: []string{"* noindex", "* googlebot: nofollow"}, target: "/", upstream: []string{"googlebot: nofollow, index", "bingbot: all"},
			want: []string{"noindex", "googlebot: nofollow"}},
		{name: "values for all crawlers come first", rules: []string{"* googlebot: nofollow", "* noindex", "*.pdf bingbot: noarchive", "/ nosnippet"}, target: "/a.pdf",
			want: []string{"noindex, nosnippet", "bingbot: noarchive", "googlebot: nofollow"}},
		{name: "upstream values are sorted too", rules: []string{"* noindex"}, target: "/", upstream: []string{"googlebot: nofollow", "nosnippet, bingbot: none"},
			want: []string{"nosnippet", "noindex", "googlebot: nofollow", "bingbot: none"}},
		{name: "unknown words of the upstream are kept", rules: []string{"* noindex"}, target: "/", upstream: []string{"frobnicate: 7, index, x y"}, want: []string{"noindex", "frobnicate: 7, x y"}},
		{name: "dates of the upstream with commas are kept", rules: []string{"* noindex, unavailable_after: 2030-01-01"}, target: "/",
			upstream: []string{"unavailable_after: Saturday, 01-Jan-28 00:00:00 GMT, index"}, want: []string{"unavailable_after: Saturday, 01-Jan-28 00:00:00 GMT", "noindex"}},
		{name: "nothing matches", rules: []string{"*.pdf noindex"}, target: "/", upstream: []string{"index, noindex"}, want: []string{"index, noindex"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := header(test.upstream...)
			if test.media != "" {
				h.Set("Content-Type", test.media)
			}
			m := compile(t, test.rules...).Match(test.target)
			m.Apply(h, max(test.status, 200*b2i(test.status == 0)), test.crawlers)
			if got := h.Values("X-Robots-Tag"); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestApplyMoreRulesThanInline checks a match of more rules than a Match holds
// without allocating.
func TestApplyMoreRulesThanInline(t *testing.T) {
	var lines []string
	for i := range 40 {
		lines = append(lines, "/a* bot"+strconv.Itoa(i)+": noindex")
	}
	h := header()
	m := compile(t, lines...).Match("/abc")
	m.Apply(h, 200, nil)
	if got := len(h["X-Robots-Tag"]); got != 40 {
		t.Errorf("%d values, want 40", got)
	}
}

// TestApplyDoesNotShareValues checks that a change of one response's header
// does not change the header of the next response.
func TestApplyDoesNotShareValues(t *testing.T) {
	rules := compile(t, "* noindex")
	for range 2 {
		h := header()
		rules.Match("/").Apply(h, 200, nil)
		if got := h.Get("X-Robots-Tag"); got != "noindex" {
			t.Fatalf("got %q, want noindex", got)
		}
		h["X-Robots-Tag"][0] = "changed"
	}
}

func TestNeedsResponse(t *testing.T) {
	for line, want := range map[string]bool{
		"*.pdf noindex": false, "status 404 noindex": true, "type a/b noindex": true,
		"not type text/html noindex": true, "not *.html noindex": false,
	} {
		if strings.HasPrefix(line, "type a/b") {
			line = "type text/plain noindex"
		}
		if got := compile(t, line).NeedsResponse(); got != want {
			t.Errorf("NeedsResponse of %q = %v, want %v", line, got, want)
		}
	}
	if (*Table)(nil).NeedsResponse() {
		t.Error("NeedsResponse of a nil Table is true")
	}
}

// TestCompileBounds checks the limit for the number of rules.
func TestCompileBounds(t *testing.T) {
	list := make([]Setting, maxSettings+1)
	for i := range list {
		list[i] = Setting{Pattern: "*.pdf", Directives: ReadDirectives("noindex")}
	}
	if _, err := Compile(list); err == nil || !strings.Contains(err.Error(), "512 are allowed") {
		t.Errorf("Compile of %d rules: %v", len(list), err)
	}
}
