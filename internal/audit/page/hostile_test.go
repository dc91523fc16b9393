package page

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/caddy-robots/caddy-robots/internal/audit"
)

// attacks are texts that a stranger may send. They must not change the page.
var attacks = []string{
	`<script>window.hacked = 1</script>`,
	`"><img src=x onerror="window.hacked = 1">`,
	`' onmouseover='window.hacked = 1' x='`,
	`</style><script>window.hacked = 1</script><style>`,
	`</script><script>window.hacked = 1</script>`,
	`</title><script>window.hacked = 1</script>`,
	`<!-- --!><svg onload=window.hacked=1>`,
	`javascript:window.hacked=1`,
	`{{.Script}} ${window.hacked = 1} &lt;script&gt;`,
	"\x00\x1b[2J\x07\r\n\u2028\u2029\u0085<b>",
	"\u202egpj.exe \u2066\u200f\ufeff",
	"\xff\xfe\xc0\xaf<i>",
	strings.Repeat("A", 10_000),
	strings.Repeat("\u0300", 500),
}

// poison replaces all strings in a report by a text.
func poison(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		if !v.IsNil() {
			poison(v.Elem(), text)
		}
	case reflect.Interface:
		v.Set(reflect.ValueOf(text))
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Type().Field(i).Type.PkgPath() != "time" {
				poison(v.Field(i), text)
			}
		}
	}
}

// skeleton lists the elements of a page and the names of their attributes, which decide
// what a browser does with the page.
func skeleton(doc *html.Node) string {
	var b strings.Builder
	for d := range doc.Descendants() {
		switch {
		case d.Type != html.ElementNode && d.Type != html.TextNode:
			b.WriteString("!") // a comment
		case d.Type == html.ElementNode:
			b.WriteString("\n" + d.Data)
			for _, a := range d.Attr {
				b.WriteString(" " + a.Key)
			}
		}
	}
	return b.String()
}

// Whatever strangers write, the page has the same elements and attributes. Characters
// that are invisible or change the direction of text are escaped.
func TestHostileTexts(t *testing.T) {
	poisoned := func(text string) (string, *html.Node) {
		r := sample(t)
		poison(reflect.ValueOf(r).Elem(), text)
		var b bytes.Buffer
		if err := Write(&b, r); err != nil {
			t.Fatal(err)
		}
		doc, err := html.Parse(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		return b.String(), doc
	}
	_, plain := poisoned("text")
	want := skeleton(plain)
	for _, text := range attacks {
		page, doc := poisoned(text)
		if got := skeleton(doc); got != want {
			t.Errorf("%.40q changes the page", text)
		}
		for _, octets := range []string{"\x00", "\x1b", "\x07", "\u202e", "\u2066", "\u200f", "\ufeff", "\u2028", "\u0085", "\xff", "\xc0", strings.Repeat("A", maxText+1)} {
			if strings.Contains(page, octets) {
				t.Errorf("%.40q: the page has %.20q", text, octets)
			}
		}
		for d := range doc.Descendants() {
			for _, a := range d.Attr {
				if (a.Key == "href" || a.Key == "src") && !strings.HasPrefix(a.Val, "#") && !strings.HasPrefix(a.Val, "data:image/svg+xml,") {
					t.Errorf("%.40q: <%s %s=%q>", text, d.Data, a.Key, a.Val)
				}
			}
		}
	}
}

// Text of strangers is in elements that isolate its direction (bidi).
func TestDirection(t *testing.T) {
	const arabic = "زاحف-ويب"
	r := sample(t)
	poison(reflect.ValueOf(r.Tables[0].Rows), arabic)
	r.Hosts = []*audit.Host{{Name: arabic}}
	doc := written(t, r)
	found := 0
	for d := range doc.Descendants() {
		if d.Type != html.TextNode || !strings.Contains(d.Data, arabic) || d.Parent.Data == "title" {
			continue
		}
		found++
		isolated := false
		for p := range d.Ancestors() {
			isolated = isolated || has(p, "stranger") || p.Data == "td"
		}
		if !isolated {
			t.Errorf("<%s class=%q> does not isolate its text", d.Parent.Data, attr(d.Parent, "class"))
		}
	}
	if found < 4 {
		t.Errorf("the page has the name %d times, want at least 4", found)
	}
}

// The Content-Security-Policy allows only the style of the page, by its hash, and the icon
// in its data: URL.
func TestPolicy(t *testing.T) {
	doc := written(t, sample(t))
	styles := all(doc, "style")
	if len(styles) != 1 || len(all(doc, "script")) > 0 {
		t.Fatalf("%d styles, or a script", len(styles))
	}
	want := "default-src 'none'; style-src " + hash(styles[0].FirstChild.Data) + "; img-src data:; base-uri 'none'; form-action 'none'"
	meta := all(doc, "meta")[1]
	if attr(meta, "http-equiv") != "Content-Security-Policy" || attr(meta, "content") != want {
		t.Errorf("%v, want %s", meta.Attr, want)
	}
	for d := range doc.Descendants() {
		for _, a := range d.Attr {
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") || a.Key == "srcset" {
				t.Errorf("<%s %s>: the Content-Security-Policy forbids it", d.Data, a.Key)
			}
		}
	}
}
