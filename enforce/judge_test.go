package enforce

import "testing"

func TestDisallowsStar(t *testing.T) {
	p, err := Settings{ExemptPaths: []string{"/private/feed.xml"}}.Rules(Response{Status: 200, Body: []byte(site)})
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]bool{"/": false, "/private/x": true, "/x/..//private/": true, "/private/press/": false, "/private/feed.xml": false, "/no-google/": false} {
		if got := p.DisallowsStar(target); got != want {
			t.Errorf("%s: %v", target, got)
		}
	}
}
