package meta

import (
	"encoding/xml"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// meta is a meta tag with its name and content.
type meta struct{ name, content string }

// parsedMetas returns the meta tags that an HTML parser finds in the head of a
// document. It parses noscript elements in the same way as a client without
// scripts.
func parsedMetas(doc string) (found []meta) {
	root, err := html.Parse(strings.NewReader(strings.TrimPrefix(doc, "\ufeff")))
	if err != nil {
		return nil
	}
	head := child(child(root, atom.Html), atom.Head)
	for n := range children(head) {
		switch n.DataAtom {
		case atom.Meta:
			found = append(found, metaOf(n))
		case atom.Noscript:
			text := ""
			for t := range children(n) {
				text += t.Data
			}
			inner, err := html.ParseWithOptions(strings.NewReader("<head><noscript>"+text+"</noscript>"), html.ParseOptionEnableScripting(false))
			if err != nil {
				continue
			}
			for m := range children(child(child(child(inner, atom.Html), atom.Head), atom.Noscript)) {
				if m.DataAtom == atom.Meta {
					found = append(found, metaOf(m))
				}
			}
		}
	}
	return found
}

func children(n *html.Node) func(func(*html.Node) bool) {
	return func(yield func(*html.Node) bool) {
		if n == nil {
			return
		}
		for c := n.FirstChild; c != nil && yield(c); c = c.NextSibling {
		}
	}
}

func child(n *html.Node, a atom.Atom) *html.Node {
	for c := range children(n) {
		if c.Type == html.ElementNode && c.DataAtom == a {
			return c
		}
	}
	return nil
}

func metaOf(n *html.Node) (m meta) {
	for _, a := range slices.Backward(n.Attr) { // the first attribute with a name counts
		switch a.Key {
		case "name":
			m.name = a.Val
		case "content":
			m.content = a.Val
		}
	}
	return m
}

// tagsOf returns the tags of a document with only these meta tags.
func tagsOf(metas []meta) string {
	var m metaTags
	for _, t := range metas {
		m.add(t.name, t.content)
	}
	return fmt.Sprint(m.Tags())
}

// found returns the tags that are found in a document that arrives in pieces of
// size octets.
func found(doc string, size int, xhtml bool) string {
	media := mediaHTML
	if xhtml {
		media = mediaXHTML
	}
	var m metaTags
	for n := min(size, len(doc)); !m.Read(media, []byte(doc[:n])) && n < len(doc); {
		n = min(n+size, len(doc))
	}
	return fmt.Sprint(m.Tags())
}

// headPieces are the parts of random documents: parts of real heads, and parts
// that hide tags, or look like it.
var headPieces = strings.Split("<meta name=robots content=noindex>|<META NAME='robots' CONTENT='nofollow'>|<meta name=googlebot content=nosnippet />|<title>|</title>|<script>|</script>|<script/>|<!--|-->|--!>|<!-->|<!|"+
	"<noscript>|</noscript>|<img src=x>|<template>|</template>|<style>|</style>|<link rel=x>|<base>|<head>|</head>|<body>|</body>|<html>|<p>|text|\n| |<|</|>|\"|'|\"</noscript>\"|<a b='|<svg>|<math>|<table>|<tr>|<td>|<select>|"+
	"<textarea>|</textarea>|<noframes>|</noframes>|<iframe>|</iframe>|<frameset>|<col>|<plaintext>|</br>|<br>|<!doctype html>|<?php|?>|&lt;|\x00|<scriptx>|</scriptx|-|--|<![CDATA[|]]>|<option>|<caption>|<button>|<form>|<a>|<b>|<li>|<object>", "|")

// compareHead checks that readHTML finds the same meta tags as a parser, or
// only the first ones if it stops early. The size of the pieces must not matter.
// It returns true if readHTML finds all tags.
func compareHead(t *testing.T, doc string) (whole bool) {
	t.Helper()
	if len(doc) > 64<<10 {
		return false
	}
	metas := parsedMetas(doc)
	got := found(doc, len(doc)+1, false)
	if again := found(doc, 1, false); again != got {
		t.Errorf("%q: %s whole, %s octet by octet", doc, got, again)
	}
	if got == tagsOf(metas) {
		return true
	}
	for n := range metas {
		if got == tagsOf(metas[:n]) {
			return false
		}
	}
	t.Errorf("%q: found %s, a parser finds %v", doc, got, metas)
	return false
}

func TestMetaTagsAgreeWithAParser(t *testing.T) {
	for _, doc := range []string{
		`<head><script/><meta name=robots content=noindex></script><meta name=robots content=nofollow>`,
		`<head><noscript><img src=x></noscript><meta name=robots content=noindex>`,
		`<head><noscript><link rel=x><meta name=robots content=none></noscript><meta name=robots content=noindex>`,
		`<head><noscript>text <b></noscript><meta name=robots content=noindex>`,
		`<template><template></template><meta name=robots content=noindex></template><meta name=robots content=nofollow>`,
		`<template><script></template></script><meta name=robots content=noindex></template>`,
		`<template><p>a < b</template><meta name=robots content=nofollow>`,
		`<script><!-- <script> </script><meta name=robots content=noindex> --></script><meta name=robots content=nofollow>`,
		`<script><!-- </script><meta name=robots content=nofollow>`,
		`<script><!--> <script> </script><meta name=robots content=nofollow>`,
		`<script><!-- <script></script> </script><meta name=robots content=nofollow>`,
		`<script><!-- <scripts> </script><meta name=robots content=nofollow>`,
		`<title><!-- </title><meta name=robots content=nofollow>`,
		`</title></script></template><meta name=robots content=nofollow>`,
		"\ufeff<!doctype html>\n<html lang=en><head><base href=/><meta name=robots content=nofollow>",
	} {
		if !compareHead(t, doc) {
			t.Errorf("%q: found only %s, a parser finds %v", doc, found(doc, 1, false), parsedMetas(doc))
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	whole := 0
	for range 5_000 {
		var doc strings.Builder
		for range 1 + random.IntN(12) {
			doc.WriteString(headPieces[random.IntN(len(headPieces))])
		}
		doc.WriteString(headPieces[0])
		if compareHead(t, doc.String()) {
			whole++
		}
	}
	if whole < 3_750 {
		t.Errorf("readHTML found all tags in only %d of 5,000 documents", whole)
	}
}

// xmlMetas returns the meta tags that an XML parser finds in the head of a
// document.
func xmlMetas(doc string) (found []meta) {
	d := xml.NewDecoder(strings.NewReader(doc))
	d.Strict, d.Entity = true, xml.HTMLEntity
	var open []string
	for {
		token, err := d.Token()
		if err == io.EOF || err != nil {
			return found
		}
		switch e := token.(type) {
		case xml.StartElement:
			if strings.Join(open, ">") == "html>head" && e.Name.Local == "meta" {
				var m meta
				for _, a := range e.Attr {
					switch a.Name.Local {
					case "name":
						m.name = a.Value
					case "content":
						m.content = a.Value
					}
				}
				found = append(found, m)
			}
			open = append(open, e.Name.Local)
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
}

// XHTML is parsed by the rules of XML: an empty script element hides nothing, and
// the content of a script element is parsed.
func TestMetaTagsOfXHTML(t *testing.T) {
	const begin = `<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd"><html xmlns="http://www.w3.org/1999/xhtml"><head>`
	const one = `<meta name="robots" content="noindex"/>`
	for _, doc := range []string{
		begin + `<script src="x"/>` + one + `</head>`,
		begin + `<title/><link href='a>b' rel="x" />` + one + `</head>`,
		begin + `<!-- ` + one + ` - --><meta content = 'none' name = "robots" ></meta></head>`,
		begin + `<script><![CDATA[ a < b ]] > ` + one + ` ]]></script>` + one,
		begin + `<style>` + one + `</style><noscript>` + one + `</noscript></head>`,
		begin + `<?php ` + one + ` ?>text<META name="robots" content="noindex"/></head>` + one,
		begin + `</head><body>` + one, `<html><body>` + one, one,
		begin + `<meta name="robots" content="no&#105;ndex"/></head>`,
	} {
		want := tagsOf(xmlMetas(doc))
		for _, size := range []int{1, 7, len(doc)} {
			if got := found(doc, size, true); got != want {
				t.Errorf("%s, in pieces of %d: found %s, a parser finds %s", doc, size, got, want)
			}
		}
	}
	for _, malformed := range []string{begin + `<a b=<` + one, begin + `<meta name=robots content="noindex"/>` + one, `<!DOCTYPE html [<!ENTITY x "y">]>` + begin + one} {
		if got := found(malformed, 7, true); got != "[]" {
			t.Errorf("%s: found %s", malformed, got)
		}
	}
}

func FuzzHead(f *testing.F) {
	for _, doc := range headPieces {
		f.Add("<head>"+doc+"<meta name=robots content=noindex>", false)
	}
	f.Add(`<template><script><!-- <script></template></script></script></template><meta name=robots content=noindex>`, false)
	f.Add(`<html><head><script/><meta name="robots" content="noindex"/></head></html>`, true)
	f.Fuzz(func(t *testing.T, doc string, xhtml bool) {
		if !xhtml {
			compareHead(t, doc)
			return
		}
		got := found(doc, len(doc)+1, true)
		if again := found(doc, 1, true); again != got {
			t.Errorf("%q: %s whole, %s octet by octet", doc, got, again)
		}
	})
}
