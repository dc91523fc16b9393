package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Clients that the examples for software must serve, besides browsers.
const (
	gitClient    = "git/2.47.1"
	ahrefsbot    = "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)"
	oaiHarvester = "OAI-PMH Harvester/1.0 (+https://aggregator.example)"
	apiScript    = "python-requests/2.32.3"
)

// softwareExample is an example for software with pages that are expensive.
type softwareExample struct {
	config  string
	checked string   // targets that strangers are asked at, and crawlers held
	held    string   // further targets that crawlers are held at
	free    string   // targets of people, programs and search engines, where nobody is held
	clients []string // User-Agents that must be served at the free targets
}

// The examples for Forgejo, MediaWiki and DSpace hold the URLs of this software that
// are expensive, and no others.
func TestExampleForgejo(t *testing.T) {
	t.Parallel()
	b := newBackend(t, withoutRobots)
	softwareExample{
		config: example(t, "forgejo", "git.example.com {", stormedHost, "localhost:3000", b.address()),
		checked: "/o/r/blame/branch/main/cmd/a.go /o/r/commits/branch/main /o/r/commits/commit/1a2b/go.mod /o/r/commit/1a2b3c " +
			"/o/r/compare/v1.0...main /o/r/src/commit/1a2b/a.go /o/r/raw/commit/1a2b/a.txt",
		held: "/o/r/archive/main.zip /explore/repos?q=x&sort=newest /o/r/issues?sort=oldest",
		free: "/ /o /o/r /o/r/src/branch/main/go.mod /o/r/issues/7 /o/r/releases /o/r/wiki/Home /user/login /explore/repos /assets/js/index.js /avatars/1a2b " +
			"/o/r/info/refs?service=git-upload-pack /o/r.git/info/refs?service=git-upload-pack /o/r.git/git-upload-pack /o/r.git/info/lfs/objects/batch " +
			"/o/r.rss /o/r/rss/branch/main /o.atom /api/v1/repos/o/r/compare/a...b /api/v1/repos/o/r/commits/1a2b/status /api/v1/repos/o/r/archive/main.zip",
		clients: []string{gitClient, apiScript, feedReader},
	}.test(t)
}

func TestExampleMediaWiki(t *testing.T) {
	t.Parallel()
	b := newBackend(t, withoutRobots)
	softwareExample{
		config: example(t, "mediawiki", "wiki.example.com {", stormedHost,
			"root * /srv/mediawiki\n\tphp_fastcgi unix//run/php/php-fpm.sock\n\tfile_server", "reverse_proxy "+b.address()),
		checked: "/index.php?title=A&oldid=7 /w/index.php?title=A&diff=prev&oldid=7 /index.php?diff=9 /index.php?title=A&action=history " +
			"/wiki/A?diff=9&oldid=7 /wiki/A?action=history /wiki/Special:WhatLinksHere/A /index.php?title=Special%3ARecentChangesLinked&target=A",
		held: "/index.php?title=A&action=edit&redlink=1 /wiki/Special:Log /index.php?title=Special:Contributions/B&offset=20261101 /wiki/A?mobileaction=toggle_view_mobile",
		free: "/ /wiki/A /index.php?title=A /index.php/A /wiki/Main_Page?uselang=de /w/load.php?modules=site.styles&only=styles /images/a/ab/A.png " +
			"/api.php?action=query&prop=revisions&titles=A /w/api.php?action=parse&oldid=7 /w/rest.php/v1/page/A/history /api.php?action=feedrecentchanges&feedformat=atom",
		clients: []string{apiScript, feedReader},
	}.test(t)
}

func TestExampleDSpace(t *testing.T) {
	t.Parallel()
	b := newBackend(t, page("User-agent: *\nDisallow: /search\nDisallow: /admin/*\nDisallow: /entities/*?f\nDisallow: /collections/*?f\n"))
	const id = "0bba4bf5-8f9c-4a0c-9e41-9e1c2e5d5f3a"
	softwareExample{
		config: example(t, "dspace", "repository.example.com {", stormedHost, "localhost:8080", b.address(), "localhost:4000", b.address()),
		checked: "/browse/author?value=Wang /browse/title?startsWith=A&bbm.page=2 /browse/dateissued /communities/" + id + "/search?query=x /communities/" + id + "/browse/author " +
			"/collections/" + id + "/browse/title /entities/person/" + id + "?spc.page=1&f.author=Wang /discover?filtertype=subject /simple-search?query=x",
		held: "/server/api/discover/search/objects?sort=score",
		free: "/ /items/" + id + " /items/" + id + "/full /handle/123456789/42 /collections/" + id + " /communities/" + id + " /community-list /entities/person/" + id + " /login " +
			"/assets/i18n/en.json /bitstreams/" + id + "/download /server/api/core/items/" + id + " /server/api/authn/status /server/opensearch/search?format=atom&query=x " +
			"/server/oai/request?verb=ListRecords&metadataPrefix=oai_dc /sitemap_index.xml",
		clients: []string{oaiHarvester, apiScript, feedReader},
	}.test(t)
}

// withoutRobots is page for a site that has no robots.txt.
func withoutRobots(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/robots.txt" {
		http.NotFound(w, r)
		return
	}
	page("")(w, r)
}

// stormedHost is the beginning of a site that gets requests of stormed.
const stormedHost = "http://:$PORT {\n\tbind $HOST"

func (e softwareExample) test(t *testing.T) {
	t.Helper()
	config := strings.Replace(e.config, "\t\tverify\n", "\t\tverify {\n\t\t\tlists off\n\t\t\tdns off\n\t\t\tsignatures off\n\t\t}\n", 1)
	if config == e.config || !strings.Contains(config, "\t\tshed {\n\t\t\tin_flight ") {
		t.Error("the example has no verify, or no shed")
	}
	config = fmt.Sprintf("{\n\tstorage file_system %s\n\tservers {\n\t\ttrusted_proxies static 127.0.0.1/8\n\t}\n}\n", t.TempDir()) + config
	s := startStormed(t, "localhost", freePort(t), t.TempDir(), config)
	checked, free := strings.Fields(e.checked), strings.Fields(e.free)
	s.eventually("the policy is published", func() bool {
		return strings.Contains(s.at("example.com", googlebot, "/robots.txt").body, "User-agent: GPTBot")
	})
	s.wants(403, s.at("example.com", gptbot, "/"), "a crawler that collects training data")
	for _, target := range append(strings.Fields(e.held), checked...) {
		if got := s.check("localhost", target, ahrefsbot, ""); len(got.Limits) == 0 {
			t.Errorf("%s: a crawler is not held", target)
		}
		s.wants(200, s.at("example.com", googlebot, target), "a search engine at "+target)
		quiet, _ := s.from("192.0.2.1", "GET", target)
		s.wants(200, quiet, "a browser at "+target)
	}
	s.throttles(checked[0])

	s.eventually("strangers are asked", func() bool {
		for i := range 150 {
			s.from(fmt.Sprintf("203.0.113.%d", i), "GET", checked[i%len(checked)])
		}
		s.pass(30 * time.Second)
		first, _ := s.from("192.0.2.2", "GET", checked[0])
		return first.status == 429
	})
	for i, target := range checked {
		page, _ := s.from(fmt.Sprintf("198.51.100.%d", i), "GET", target)
		if s.wants(429, page, "a stranger at "+target); !strings.Contains(page.body, "<form") {
			t.Errorf("%s: no page with a button: %.80q", target, page.body)
		}
	}
	for i, target := range append(free, strings.Fields(e.held)...) {
		page, _ := s.from(fmt.Sprintf("198.51.101.%d", i), "GET", target)
		s.wants(200, page, "a browser during the storm at "+target)
	}
	for _, target := range free {
		if got := s.check("localhost", target, ahrefsbot, ""); len(got.Limits) > 0 {
			t.Errorf("%s: a crawler is held by %v", target, got.Limits)
		}
		for _, ua := range e.clients {
			s.wants(200, s.at("example.com", ua, target), ua+" at "+target)
		}
		s.wants(200, s.at("example.com", googlebot, target), "a search engine at "+target)
	}
}

// throttles checks that a crawler gets 429 at a target that it requests again and again.
func (s stormed) throttles(target string) {
	s.t.Helper()
	for range 50 { // a machine that is slow earns one request in some seconds
		if s.at("example.com", ahrefsbot, target).status == 429 {
			return
		}
	}
	s.t.Errorf("%s: no request of a crawler was refused", target)
}
