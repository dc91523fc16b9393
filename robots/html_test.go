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
