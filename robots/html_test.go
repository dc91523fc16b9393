package robots

import "testing"

func TestLooksLikeHTML(t *testing.T) {
	for text, want := range map[string]bool{
		"<!DOCTYPE html><html>":               true,
		"\xef\xbb\xbf\r\n <html lang=\"en\">": true,
		"<!-- x --><HTML>":                    true,
		"<?xml version=\"1.0\"?>\n<html>":     true,
		"User-agent: *":                       false,
		"# <html>":                            false,
		"":                                    false,
		"<br />\n<b>Warning</b>: x<br />\nUser-agent: *\nDisallow: /": false,
		"<br />\n<b>Fatal error</b>: x<br />\n":                       true,
		"<p>The file begins with User-agent: *":                       true,
		"<html><pre>\nUser-agent: *\nDisallow: /":                     true,
	} {
		if got := LooksLikeHTML([]byte(text)); got != want {
			t.Errorf("LooksLikeHTML(%q) = %v", text, got)
		}
	}
}

func TestCheckText(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                   true,
		"\xef\xbb\xbf\r\n \t\n":              true,
		"# nothing is disallowed":            true,
		"User-agent: *\nDisallow:":           true,
		"Sitemap: https://example.com/s.xml": true,
		"Crawl-delay: 5":                     true,
		"Disallow /private/":                 true,
		"License: https://example.com/l.xml": true,
		"Warning: x\nuseragent: *":           true,
		"\xef\xbb\xbfDisallow: /":            true,
		"<!DOCTYPE html>\nDisallow: /":       false,
		"ok":                                 false,
		"# comment\nNot found":               false,
		"Host unreachable":                   false,
		"host: db.internal\npassword: x\n":   false,
		"license: MIT":                       false,
		"{\"admin\":{\"listen\":\"localhost\"},\n\"Disallow\": \"/\"}": false,
		"<?xml version=\"1.0\"?>\n<urlset></urlset>":                   false,
		"U\x00s\x00e\x00r\x00-\x00a\x00g\x00e\x00n\x00t\x00:\x00*\x00": false,
		"\xff\xfeU\x00s\x00e\x00r\x00":                                 false,
	} {
		if err := CheckText([]byte(text)); (err == nil) != want {
			t.Errorf("CheckText(%q) = %v", text, err)
		}
	}
}
