package headers

import (
	"net/http"
	"slices"
	"testing"
)

// TestAddVary checks RFC 9110, section 12.5.5: the case of names is ignored, a
// list may be split over several fields, and * includes all names.
func TestAddVary(t *testing.T) {
	for _, tt := range []struct{ there, want []string }{
		{nil, []string{"User-Agent"}},
		{[]string{"Accept-Encoding"}, []string{"Accept-Encoding", "User-Agent"}},
		{[]string{"user-agent"}, []string{"user-agent"}},
		{[]string{"Accept", "Origin , USER-AGENT"}, []string{"Accept", "Origin , USER-AGENT"}},
		{[]string{"*"}, []string{"*"}},
		{[]string{"X-User-Agent, User-Agent-X"}, []string{"X-User-Agent, User-Agent-X", "User-Agent"}},
	} {
		shared := append(make([]string, 0, 8), tt.there...)
		h := http.Header{}
		if tt.there != nil {
			h["Vary"] = shared
		}
		AddVary(h, "User-Agent")
		AddVary(h, "User-Agent")
		if !slices.Equal(h["Vary"], tt.want) {
			t.Errorf("%q becomes %q, want %q", tt.there, h["Vary"], tt.want)
		}
		if next := shared[:len(shared)+1][len(shared)]; next != "" {
			t.Errorf("%q: the values were modified in place", tt.there)
		}
	}
}

// TestApplyAddsVary checks that a response that depends on the User-Agent has
// Vary for all clients, and that other responses do not.
func TestApplyAddsVary(t *testing.T) {
	rules := compile(t, "*.pdf noindex", "*.doc googlebot: nofollow", "*.zip bingbot: only noindex", "type image/png bingbot: only noimageindex")
	for _, tt := range []struct {
		target, media string
		status        int
		crawlers      []string
		vary, tag     string
	}{
		{target: "/a.pdf", tag: "noindex"},
		{target: "/a.doc", tag: "googlebot: nofollow"},
		{target: "/a.zip", vary: "User-Agent"},
		{target: "/a.zip", status: 304, vary: "User-Agent"}, // RFC 9110, section 15.4.5
		{target: "/a.pdf", status: 304, tag: "noindex"},
		{target: "/a.zip", crawlers: []string{"bingbot"}, vary: "User-Agent", tag: "bingbot: noindex"},
		{target: "/a", media: "image/png", vary: "User-Agent"},
		{target: "/a", media: "image/gif"},
		{target: "/a.zip", status: 103},
	} {
		h := http.Header{}
		if tt.media != "" {
			h.Set("Content-Type", tt.media)
		}
		if tt.status == 0 {
			tt.status = 200
		}
		rules.Match(tt.target).Apply(h, tt.status, tt.crawlers)
		if h.Get("Vary") != tt.vary || h.Get("X-Robots-Tag") != tt.tag {
			t.Errorf("%s for %q: Vary %q and %q, want %q and %q", tt.target, tt.crawlers, h.Get("Vary"), h.Get("X-Robots-Tag"), tt.vary, tt.tag)
		}
	}
}
