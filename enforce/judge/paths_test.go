package judge

import "testing"

func TestPaths(t *testing.T) {
	rules, err := Settings{ExemptPaths: []string{"/.well-known/*"}}.Rules(Response{Status: 404})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		pattern, target string
		want            bool
	}{
		{"/blame/*", "/blame/a", true},
		{"/blame/*", "/x/..//%62lame/a", true}, // another spelling
		{"/blame/*", "/other", false},
		{"/*?sort=", "/list?sort=name", true},
		{"/*", "/robots.txt", false},
		{"/*", "/.well-known/x", false}, // exempt
	} {
		paths, err := PathGroup([]string{tt.pattern})
		if err != nil {
			t.Fatal(err)
		}
		if got := rules.Name(paths, tt.target); got != tt.want {
			t.Errorf("%s, %s: %t", tt.pattern, tt.target, got)
		}
	}
	if _, err := PathGroup([]string{"blame"}); err == nil {
		t.Error("a pattern without a slash")
	}
}

// A rule that disallows the whole site disallows no part of it.
func TestDisallowsPart(t *testing.T) {
	for _, tt := range []struct {
		file, path string
		want       bool
	}{
		{"User-agent: *\nDisallow: /private/\n", "/private/x", true},
		{"User-agent: *\nDisallow: /private/\nAllow: /private/a\n", "/private/a", false},
		{"User-agent: *\nDisallow: /\n", "/private/x", false},
		{"User-agent: *\nDisallow: /*\nDisallow: /private/\n", "/private/x", true},
		{"User-agent: *\nDisallow: /*\nDisallow: /private/\n", "/x", false},
		{"User-agent: GPTBot\nDisallow: /private/\n", "/private/x", false},
	} {
		rules, err := Settings{}.Rules(Response{Status: 200, Body: []byte(tt.file)})
		if err != nil {
			t.Fatal(err)
		}
		if got := rules.DisallowsPart(tt.path); got != tt.want {
			t.Errorf("%q: %s: %t", tt.file, tt.path, got)
		}
	}
	for file, want := range map[string]bool{
		"User-agent: *\nDisallow: /\n": true, "User-agent: *\nDisallow:\n": true, "": true, "User-agent: *\nDisallow: /*\nAllow: /a\n": true,
		"User-agent: *\nDisallow: /\nDisallow: /x\n": false, "User-agent: *\nDisallow: /$\n": false,
	} {
		rules, err := Settings{}.Rules(Response{Status: 200, Body: []byte(file)})
		if err != nil || rules.DisallowsNoPart() != want {
			t.Errorf("%q: no part: %t, %v", file, !want, err)
		}
	}
}
