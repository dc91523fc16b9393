package e2e_test

import (
	"fmt"
	"strings"
	"testing"
)

// spellings returns ways to write a host name in the Host field. All mean the same
// origin.
func spellings(name string) []string {
	return []string{name, name + ":1", name + ":65535", name + ":99999", name + ":abc", name + ":", strings.ToUpper(name), strings.ToUpper(name[:1]) + name[1:] + ":1"}
}

func TestSpellingsOfAHostShareOneOriginAndOneBudget(t *testing.T) {
	t.Parallel()
	const paced = "User-agent: *\nDisallow: /private/\n\nUser-agent: bingbot\nDisallow: /private/\nCrawl-delay: 600\n"
	back := newFlaky(t)
	back.answerWith(text(200, paced))
	file := t.TempDir() + "/robots.txt"
	writeFile(t, file, paced)
	s := start(t, fmt.Sprintf(`
http://site.test:$PORT {
	robots {
		refresh 1h
	}
	reverse_proxy %[1]s
}
http://url.test:$PORT {
	robots {
		source url %[1]s/robots.txt
	}
	respond "page"
}
http://file.test:$PORT {
	robots {
		source file %[2]s
	}
	respond "page"
}
http://inline.test:$PORT {
	robots {
		source inline "%[3]s"
	}
	respond "page"
}
http://*.wild.test:$PORT {
	robots {
		source inline "%[3]s"
	}
	respond "page"
}`, back.URL, file, paced))
	for _, name := range []string{"site.test", "url.test", "file.test", "inline.test", "a.wild.test"} {
		s.wants(200, s.rawAt(s.named(name), "/x", bingbot), "the first request to "+name)
		for _, host := range spellings(name) {
			s.wants(429, s.rawAt(host, "/x", bingbot), "another request with Host: "+host)
			s.wants(403, s.rawAt(host, "/private/x", googlebot), "a disallowed path with Host: "+host)
			s.wants(200, s.rawAt(host, "/private/x", chrome), "a person with Host: "+host)
		}
	}
	if n := back.count(); n != 2 {
		t.Errorf("the back end's robots.txt was read %d times, want once for each of two sites", n)
	}
}

// For Caddy's host matcher, site.test. and site.test differ, so only a site without
// a host serves both.
func TestTrailingDotIsTheSameOrigin(t *testing.T) {
	t.Parallel()
	back := newFlaky(t)
	back.answerWith(text(200, "User-agent: *\nDisallow: /private/\nCrawl-delay: 600\n"))
	s := start(t, "http://:$PORT {\n\trobots {\n\t\trefresh 1h\n\t}\n\treverse_proxy "+back.URL+"\n}\n")
	s.wants(403, s.rawAt("site.test", "/private/x", bingbot), "a disallowed path")
	first := back.count()
	for _, host := range append(spellings("site.test"), "site.test.", "SITE.test.", "site.test.:1", s.named("site.test.")) {
		s.wants(403, s.rawAt(host, "/private/x", bingbot), "a disallowed path with Host: "+host)
	}
	if n := back.count(); first != 1 || n != 1 {
		t.Errorf("robots.txt was read %d times, then %d times more; want once", first, n-first)
	}
	// After bingbot has read this host's robots.txt, it has one budget here, for
	// all spellings of the name.
	s.wants(200, s.rawAt("site.test", "/robots.txt", bingbot), "robots.txt")
	s.wants(200, s.rawAt("site.test.", "/x", bingbot), "the first request")
	for _, host := range append(spellings("site.test"), "site.test.", "SITE.test.:1") {
		s.wants(429, s.rawAt(host, "/x", bingbot), "another request with Host: "+host)
	}
}

// The port of an origin is the port of the listener, not the port in the Host
// field.
func TestEachPortIsAnOriginOfItsOwn(t *testing.T) {
	t.Parallel()
	second := freePort(t)
	port := freePort(t)
	site := func(port int) string {
		return fmt.Sprintf("http://site.test:%[1]d {\n\trespond /robots.txt \"User-agent: *\nDisallow: /of-%[1]d/\nCrawl-delay: 600\"\n\trobots\n\trespond page\n}\n", port)
	}
	s := startAt(t, "localhost", port, site(port)+site(second))
	for _, port := range []int{port, second} {
		other := s.port + second - port
		for _, written := range []int{port, other} {
			host := fmt.Sprintf("site.test:%d", written)
			s.wants(403, s.rawTo(port, host, fmt.Sprintf("/of-%d/x", port), googlebot), fmt.Sprintf("port %d's own rule with Host: %s", port, host))
			s.wants(200, s.rawTo(port, host, fmt.Sprintf("/of-%d/x", other), googlebot), fmt.Sprintf("the other port's rule at %d with Host: %s", port, host))
		}
		s.wants(200, s.rawTo(port, "site.test", "/", bingbot), fmt.Sprintf("the first request to port %d", port))
		s.wants(429, s.rawTo(port, fmt.Sprintf("site.test:%d", other), "/", bingbot), fmt.Sprintf("another one to port %d, with the other in Host", port))
	}
}
