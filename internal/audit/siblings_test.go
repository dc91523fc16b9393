package audit

import (
	"fmt"
	"strings"
	"testing"
)

// kindsOf returns pathKinds that has seen targets, each a number of times, in turn.
func kindsOf(times int, targets ...string) *pathKinds {
	k := newKinds()
	for range times {
		for _, target := range targets {
			k.see(1, target, unknownKind, true)
		}
	}
	return k
}

// tree returns paths of pages of files of a repository, whose names have an extension of
// several kinds, in a folder.
func tree(folder string, n int) (list []string) {
	for i := range n {
		dir := strings.Fields("/ /cmd/ /src/ /src/js/ /docs/")[i%5]
		list = append(list, fmt.Sprintf(folder+dir+"file%d.%s", i, strings.Fields("go md js yml sh css c")[i%7]))
	}
	return list
}

// What its path's siblings are decides what a request is for; the extension only if they
// say nothing.
func TestKinds(t *testing.T) {
	people := func(pages ...string) []string { // who also read pages with what they embed
		return append(pages, "/", "/style.css", "/about", "/assets/js/index.js", "/assets/css/index.css", "/assets/img/logo.svg", "/favicon.ico")
	}
	wiki := []string{}
	for i := range 200 {
		wiki = append(wiki, fmt.Sprintf("/wiki/Title_%d", i))
	}
	goOnly := []string{}
	for i := range 6500 {
		goOnly = append(goOnly, fmt.Sprintf("/u%d/r/blame/branch/main/d%d/f%d.go", i%50, i%30, i))
	}
	gallery := []string{"/photos/rome/", "/photos/rome/1.jpg", "/photos/rome/2.jpg", "/photos/rome/3.jpg", "/photos/rome/4.jpg"}
	for name, tt := range map[string]struct {
		kinds  *pathKinds
		pages  []string
		files  []string
		others []string
	}{
		"nothing seen": {newKinds(), []string{"/", "/a", "/a.html", "/x.tar.gz", "/main.go", "/a.pdf", "/p.PHP"}, []string{"/style.css", "/a/B.JPG?x=1", "/f.woff2"},
			[]string{"/data.json", "/robots.txt", "/.well-known/x"}},
		"a forge": {kindsOf(1, append(people(), tree("/ann/app/blame/branch/main", 300)...)...), []string{"/ann/app/blame/branch/main/main.js", "/bob/lib/blame/branch/main/src/js/a/logo.png", "/ann/app/blame/branch/main/package.json"},
			[]string{"/assets/js/index.js", "/style.css", "/assets/new.css"}, []string{"/data.json"}},
		"a forge below a path":           {kindsOf(1, append(tree("/git/ann/app/blame", 300), "/git/assets/index.js")...), []string{"/git/ann/app/blame/main.js"}, []string{"/git/assets/index.js", "/git/assets/a.css"}, nil},
		"one .js among many of one kind": {kindsOf(1, append(people(), goOnly...)...), []string{"/u1/r/blame/branch/main/d5/main.js"}, []string{"/style.css", "/assets/js/index.js"}, nil},
		"a wiki":                         {kindsOf(1, append(people(), wiki...)...), []string{"/wiki/File:X.jpg"}, []string{"/images/x.jpg"}, nil},
		"files beside pages":             {kindsOf(100, people("/p1", "/p2", "/p3", "/p4", "/p5", "/p6", "/p7", "/p8", "/p9", "/p10", "/p11", "/p12")...), []string{"/p99"}, []string{"/style.css", "/favicon.ico"}, nil},
		"a gallery":                      {kindsOf(20, gallery...), nil, []string{"/photos/rome/5.jpg"}, nil},
		"not another site": {func() *pathKinds {
			k := newKinds()
			for _, p := range tree("/blame", 300) {
				k.see(2, p, unknownKind, true)
			}
			return k
		}(), nil, []string{"/blame/main.js"}, nil},
		"not answered": {func() *pathKinds {
			k := newKinds()
			for _, p := range tree("/blame", 300) {
				k.see(1, p, unknownKind, false)
			}
			return k
		}(), nil, []string{"/blame/main.js"}, nil},
		"known by fields": {func() *pathKinds {
			k := newKinds()
			for i := range 20 {
				k.see(1, fmt.Sprintf("/view/%d.js", i), documentKind, true)
			}
			return k
		}(), []string{"/view/x.js"}, []string{"/view.js"}, nil},
	} {
		for want, list := range map[requestKind][]string{documentKind: tt.pages, embeddedKind: tt.files, otherKind: tt.others} {
			for _, target := range list {
				if got := tt.kinds.see(1, target, unknownKind, false); got != want {
					t.Errorf("%s: %s is %d, want %d", name, target, got, want)
				}
			}
		}
	}
}

func TestKindOfMedia(t *testing.T) {
	for want, list := range map[requestKind]string{
		unknownKind:  "|application/octet-stream|x",
		documentKind: "text/html; charset=utf-8|application/xhtml+xml|text/plain|application/pdf|application/gzip|application/x-tar",
		embeddedKind: "text/css|application/javascript|text/JavaScript;x|image/svg+xml|font/woff2|application/font-woff|application/vnd.ms-fontobject|video/mp4",
		otherKind:    "application/json|application/ld+json|application/xml|application/rss+xml|text/event-stream|application/wasm",
	} {
		for media := range strings.SplitSeq(list, "|") {
			if got := kindOfMedia(media); got != want {
				t.Errorf("%q is %d, want %d", media, got, want)
			}
		}
	}
}

// A known folder costs no allocation, and no path a panic.
func TestKindsOfAKnownFolder(t *testing.T) {
	k := kindsOf(1, tree("/ann/app/blame", 100)...)
	if n := testing.AllocsPerRun(100, func() { k.see(1, "/ann/app/blame/src/js/Main.JS?x", unknownKind, true) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzKinds(f *testing.F) {
	f.Add("/a/b/c.js?d", "*")
	f.Add("http://x/.js", "//../a./.")
	f.Fuzz(func(t *testing.T, a, b string) {
		k := newKinds()
		for _, target := range []string{a, b, a + b, a + "/" + b} {
			if kind := k.see(1, target, unknownKind, true); kind == unknownKind {
				t.Errorf("%q is of no kind", target)
			}
			kindOfMedia(target)
		}
	})
}
