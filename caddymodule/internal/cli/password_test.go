package cli

import "testing"

func TestShown(t *testing.T) {
	for in, want := range map[string]string{
		"http://user:secret@host/robots.txt":           "http://user:xxxxx@host/robots.txt",
		"http://user:sec/r@t@host/robots.txt":          "http://user:xxxxx@host/robots.txt",
		"ftp://user:123@host":                          "ftp://user:xxxxx@host",
		"https://host:8080/@user/robots.txt":           "https://host:8080/@user/robots.txt",
		"https://host/a:b@c":                           "https://host/a:b@c",
		`Get "http://u:p@h:1/": no; "http://u:p@h:2/"`: `Get "http://u:xxxxx@h:1/": no; "http://u:xxxxx@h:2/"`,
		"C:\\robots.txt":                               "C:\\robots.txt",
	} {
		if got := Shown(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
