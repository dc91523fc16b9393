package pattern

import (
	"slices"
	"testing"
)

func TestMerge(t *testing.T) {
	for _, tt := range []struct {
		p, q string
		want []string // with ! as the fill text
	}{
		{"/a", "/a/b", []string{"/a/b!"}},
		{"/a", "/b", nil},
		{"/a$", "/a*", []string{"/a"}},
		{"/*a$", "/*b", []string{"/!b!a"}},
		{"/*ab", "/*bc", []string{"/!ab!bc!", "/!abc!", "/!bc!ab!"}},
		{"*/a", "/", []string{"/!/a!", "/a!"}},
		{"/*.pdf$", "/*?x", []string{"/!?x!.pdf"}},
	} {
		p, _ := Compile(tt.p, RFC9309, false)
		q, _ := Compile(tt.q, RFC9309, false)
		for _, pair := range [][2]*Pattern{{&p, &q}, {&q, &p}} {
			var got []string
			budget := 10_000
			if !Merge(pair[0], pair[1], "!", &budget, func(text string) bool {
				got = append(got, text)
				if !p.Matches(text) || !q.Matches(text) {
					t.Errorf("%q and %q do not both match %q", tt.p, tt.q, text)
				}
				return true
			}) {
				t.Errorf("%q and %q: Merge did not find all texts", tt.p, tt.q)
			}
			slices.Sort(got)
			if !slices.Equal(got, tt.want) {
				t.Errorf("%q and %q: %q, want %q", tt.p, tt.q, got, tt.want)
			}
		}
		if text, ok, certain := Common(&p, &q); ok != (len(tt.want) > 0) || !certain || ok && (!p.Matches(text) || !q.Matches(text)) {
			t.Errorf("Common(%q, %q) = %q, %v, %v", tt.p, tt.q, text, ok, certain)
		}
	}
	a, _ := Compile("/*a*a*a*a*a*a*a*a", RFC9309, false)
	b, _ := Compile("/*b*b*b*b*b*b*b*b", RFC9309, false)
	budget := 1000
	if Merge(&a, &b, "!", &budget, func(string) bool { return true }) {
		t.Error("Merge found all texts within 1000 steps")
	}
}

func TestIndexFolder(t *testing.T) {
	for p, want := range map[string]string{
		"/a/index.html": "/a/$", "/index.htm": "/$", "/*/index.html$": "/*/$", "/a/index.html?b": "/a/$",
		"/a/index.php": "", "/index.html/b": "", "index.html": "",
	} {
		if got, ok := IndexFolder(p); got != want || ok != (want != "") {
			t.Errorf("%s: %q, want %q", p, got, want)
		}
	}
}

func TestExamples(t *testing.T) {
	for text, want := range map[string][]string{
		"/private/":     {"/private/", "/private/x", "/private/x"},
		"/private":      {"/private", "/privatex", "/private/x"},
		"/":             {"/", "/x", "/x"},
		"/a$":           {"/a", "/a", "/a"},
		"/*.pdf$":       {"/x.pdf", "/x.pdf", "/.pdf"},
		"/*/feed/":      {"/x/feed/x", "/x/feed/x", "/x/feed/"},
		"/a*b":          {"/axbx", "/a/xb/x", "/ab"},
		"*?sort=":       {"/x?sort=x", "/x?sort=/x", "/?sort="},
		"/tmp/, /cgi/":  {"/tmp/,%20/cgi/", "/tmp/,%20/cgi/x", "/tmp/,%20/cgi/x"},
		"/a//b":         {"/a//b", "/a//bx", "/a//b/x"},
		"/shop/*/edit$": {"/shop/x/edit", "/shop/x/edit", "/shop/x/edit"},
	} {
		p, ok := Compile(text, RFC9309, false)
		got := p.Examples()
		if !ok || !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		for _, path := range got {
			if !p.Matches(path) {
				t.Errorf("%s does not match its example %s", text, path)
			}
		}
	}
}
