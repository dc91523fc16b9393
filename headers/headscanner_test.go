package headers

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func scanAll(doc string, size int) (*HeadScanner, []string) {
	var s HeadScanner
	for piece := range slices.Chunk([]byte(doc), size) {
		s.Scan(piece)
	}
	var got []string
	for _, t := range s.Tags() {
		got = append(got, t.String())
	}
	return &s, got
}

// TestHeadScanner checks that the scanner finds the same meta tags in the head
// as an HTML parser (HTML, section 13.2).
func TestHeadScanner(t *testing.T) {
	long := strings.Repeat("x", 1<<16)
	for _, test := range []struct {
		name, doc string
		want      []string
		done      bool
	}{
		{"plain", `<!DOCTYPE html><html><head><meta name="robots" content="noindex, nofollow"></head>`, []string{"noindex, nofollow"}, true},
		{"no head tag", `<meta name=robots content=none><p>`, []string{"none"}, true},
		{"upper case, other order, single quotes, blanks", "<META\n CONTENT = 'NOINDEX'\tNAME = ' Robots '/>", []string{"noindex"}, false},
		{"unquoted, closed", `<meta name=robots content=noindex/>`, nil, false}, // the slash belongs to the value
		{"entities", `<meta name="&#114;obots" content="noindex&#44;&#x20;nofollow">`, []string{"noindex, nofollow"}, false},
		{"crawler", `<meta name="googlebot" content="noindex"><meta name="robots" content="noarchive">`, []string{"googlebot: noindex", "noarchive"}, false},
		{"two tags for one crawler", `<meta name="googlebot" content="noindex"><meta name="googlebot" content="indexifembedded">`, []string{"googlebot: noindex, indexifembedded"}, false},
		{"other names", `<meta name="description" content="noindex"><meta name="viewport" content="none">`, nil, false},
		{"unknown words", `<meta name="robots" content="noindex, frobnicate, max-snippet:x">`, []string{"noindex"}, false},
		{"line break in the value", "<meta name=robots content='noindex,\n nofollow'>", []string{"noindex, nofollow"}, false},
		{"date", `<meta name="robots" content="unavailable_after: Sat, 05 Jun 2027 13:30:00 GMT, nofollow">`, []string{"nofollow, unavailable_after: 2027-06-05T13:30:00Z"}, false},
		{"first of two attributes", `<meta name="robots" name="x" content="noindex" content="all">`, []string{"noindex"}, false},
		{"first of two attributes, without a value", `<meta name name="robots" content="noindex"><meta name= content="noindex" name="robots">`, nil, false},
		{"comment", `<!-- <meta name="robots" content="noindex"> --><meta name="robots" content="nofollow">`, []string{"nofollow"}, false},
		{"short comments", `<!--><!---><!-- x --!><!----><meta name="robots" content="nofollow">`, []string{"nofollow"}, false},
		{"comment with a > in it", `<!-- > -> - -- ><meta name="robots" content="noindex"> -->`, nil, false},
		{"script", `<script>"<meta name='robots' content='noindex'>"; </scriptx> a<b </script ><meta name="robots" content="nofollow">`, []string{"nofollow"}, false},
		{"title", `<title><meta name="robots" content="noindex"></TITLE><meta name="robots" content="nofollow">`, []string{"nofollow"}, false},
		{"style, template", `<style>a>b{}</style><template><meta name="robots" content="noindex"></template>`, nil, false},
		{"noscript", `<noscript><meta name="robots" content="noindex"></noscript>`, []string{"noindex"}, false},
		{"quoted >", `<link title="a > b" href=x><meta name="robots" content="noindex">`, []string{"noindex"}, false},
		{"xml", "\xef\xbb\xbf<?xml version='1.0'?>\n<html><meta name='robots' content='noindex'/>", []string{"noindex"}, false},
		{"odd end tags", `</><//x></1><meta name="robots" content="noindex">`, []string{"noindex"}, false},
		{"in the body", `<head></head><body><meta name="robots" content="noindex">`, nil, true},
		{"after a tag of the body", `<div><meta name="robots" content="noindex">`, nil, true},
		{"after text", `hello <meta name="robots" content="noindex">`, nil, true},
		{"not HTML", `data: {}`, nil, true},
		{"UTF-16", "\xff\xfe<\x00m\x00", nil, true},
		{"value too long", `<meta name="robots" content="noindex` + strings.Repeat(" ", 4000) + `">`, nil, false},
		{"beyond the bound", `<script>` + long + `</script><meta name="robots" content="noindex">`, nil, true},
		{"empty", ``, nil, false},
		{"cut off", `<meta name="robots" content="noindex"`, nil, false},
	} {
		for _, size := range []int{1, 2, 3, 7, 1 << 20} {
			s, got := scanAll(test.doc, size)
			if !slices.Equal(got, test.want) || s.Done() != test.done {
				t.Errorf("%s, in pieces of %d: got %q (done %v), want %q (done %v)", test.name, size, got, s.Done(), test.want, test.done)
			}
		}
	}
}

func TestHeadScannerReset(t *testing.T) {
	s := HeadScanner{Crawlers: func(name string) bool { return name == "mybot" }}
	for range 2 {
		s.Scan([]byte(`<meta name="mybot" content="noindex"><meta name="googlebot" content="all"><body>`))
		if tags := s.Tags(); !s.Done() || len(tags) != 1 || tags[0].String() != "mybot: noindex" {
			t.Errorf("got %v", tags)
		}
		s.Reset()
		if s.Done() || len(s.Tags()) != 0 {
			t.Error("after Reset, Done is true or there are tags")
		}
	}
}

// FuzzHeadScanner checks that the result does not depend on the size of the
// pieces, and that the scanner does not change the document.
func FuzzHeadScanner(f *testing.F) {
	f.Add(`<html><head><!-- x --><script>1<2</script><meta name="robots" content="noindex">`, 3)
	f.Add(`<meta content='a' name=robots><title></title></head>`, 1)
	f.Fuzz(func(t *testing.T, doc string, size int) {
		whole, want := scanAll(doc, max(1, len(doc)))
		pieces, got := scanAll(doc, 1+(size&0xff))
		if !slices.Equal(got, want) || whole.Done() != pieces.Done() {
			t.Errorf("%q at once: %q, in pieces: %q", doc, want, got)
		}
		b := []byte(doc)
		(&HeadScanner{}).Scan(b)
		if string(b) != doc {
			t.Errorf("%q was changed to %q", doc, b)
		}
	})
}

func BenchmarkHeadScanner(b *testing.B) {
	var head bytes.Buffer
	head.WriteString("<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n<title>A page</title>\n")
	for i := range 40 {
		fmt.Fprintf(&head, "<link rel=\"preload\" href=\"/assets/chunk-%d.js\" as=\"script\" crossorigin>\n<meta property=\"og:image\" content=\"https://example.com/image-%d.png\">\n", i, i)
	}
	head.WriteString("<script>" + strings.Repeat("window.x = window.x || {};\n", 400) + "</script>\n")
	head.WriteString("<meta name=\"robots\" content=\"noindex, nofollow\">\n</head><body>")
	for _, size := range []int{512, 4096, MaxHead} {
		b.Run(fmt.Sprintf("pieces=%d", size), func(b *testing.B) {
			var s HeadScanner
			doc := head.Bytes()
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				s.Reset()
				for rest := doc; len(rest) > 0; {
					n := min(size, len(rest))
					if s.Scan(rest[:n]) {
						break
					}
					rest = rest[n:]
				}
				if len(s.tags) != 1 {
					b.Fatal("robots meta tag not found")
				}
			}
		})
	}
}
