package judge

import "testing"

func TestChallenges(t *testing.T) {
	for _, tt := range []struct {
		challenge  Challenge
		file, path string
		want       bool
	}{
		{Challenge{Paths: []string{"/blame/*"}}, "", "/blame/a", true},
		{Challenge{Paths: []string{"/blame/*"}}, "", "/x/..//%62lame/a", true}, // another spelling
		{Challenge{Paths: []string{"/blame/*"}}, "", "/other", false},
		{Challenge{Paths: []string{"/*?sort="}}, "", "/list?sort=name", true},
		{Challenge{Paths: []string{"/*"}}, "", "/robots.txt", false},
		{Challenge{Paths: []string{"/*"}}, "", "/.well-known/x", false}, // exempt
		{Challenge{Disallowed: true}, "User-agent: *\nDisallow: /private/\n", "/private/x", true},
		{Challenge{Disallowed: true}, "User-agent: *\nDisallow: /private/\nAllow: /private/a\n", "/private/a", false},
		{Challenge{Disallowed: true}, "User-agent: *\nDisallow: /\n", "/private/x", false},
		{Challenge{Disallowed: true}, "User-agent: *\nDisallow: /*\nDisallow: /private/\n", "/private/x", true},
		{Challenge{Disallowed: true}, "User-agent: *\nDisallow: /*\nDisallow: /private/\n", "/x", false},
		{Challenge{Disallowed: true}, "User-agent: GPTBot\nDisallow: /private/\n", "/private/x", false},
		{Challenge{}, "User-agent: *\nDisallow: /private/\n", "/private/x", false},
	} {
		rules, err := Settings{Challenge: tt.challenge, ExemptPaths: []string{"/.well-known/*"}}.Rules(Response{Status: 200, Body: []byte(tt.file)})
		if err != nil {
			t.Fatal(err)
		}
		if got := rules.Challenges(tt.path); got != tt.want {
			t.Errorf("%+v, %q: %s: %t", tt.challenge, tt.file, tt.path, got)
		}
	}
	for file, want := range map[string]bool{
		"User-agent: *\nDisallow: /\n": true, "User-agent: *\nDisallow:\n": true, "": true, "User-agent: *\nDisallow: /*\nAllow: /a\n": true,
		"User-agent: *\nDisallow: /\nDisallow: /x\n": false, "User-agent: *\nDisallow: /$\n": false,
	} {
		rules, err := Settings{Challenge: Challenge{Disallowed: true}}.Rules(Response{Status: 200, Body: []byte(file)})
		if err != nil || rules.ChallengesNothing() != want {
			t.Errorf("%q: nothing is left: %t, %v", file, !want, err)
		}
	}
}
