package challenge

import (
	"crypto/rand"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

var here = bearer{origin: judge.NewOrigin("https", "example.com", 443), userAgent: chrome, addr: netip.MustParseAddr("192.0.2.1"), target: "/a?b"}

func TestTokensBelongToTheirClient(t *testing.T) {
	t.Parallel()
	keys := ring{rand.Text()}
	page := newToken(noon)
	for kind := styleToken; kind <= trapToken; kind++ {
		text := keys.text(page.as(kind), &here)
		if got := keys.open(text, &here); got != page.as(kind) {
			t.Fatalf("kind %d: %v", kind, got)
		}
		if kind == openToken { // which gives nothing
			continue
		}
		for name, tt := range map[string]struct {
			change func(*bearer)
			want   bool
		}{
			"origin":     {func(b *bearer) { b.origin.Host = "example.net" }, false},
			"scheme":     {func(b *bearer) { b.origin.Scheme = "http" }, false},
			"port":       {func(b *bearer) { b.origin.Port = 8443 }, true},
			"User-Agent": {func(b *bearer) { b.userAgent += "x" }, false},
			"same /24":   {func(b *bearer) { b.addr = netip.MustParseAddr("192.0.2.200") }, kind != trapToken},
			"mapped":     {func(b *bearer) { b.addr = netip.MustParseAddr("::ffff:192.0.2.1") }, true},
			"network":    {func(b *bearer) { b.addr = netip.MustParseAddr("192.0.3.1") }, kind != styleToken && kind != trapToken},
			"IPv6":       {func(b *bearer) { b.addr = netip.MustParseAddr("2001:db8::1") }, kind != styleToken && kind != trapToken},
			"page":       {func(b *bearer) { b.target = "/a?c" }, kind != pageToken},
		} {
			other := here
			tt.change(&other)
			if got := keys.open(text, &other); got != (token{}) != tt.want {
				t.Errorf("kind %d, %s: %v, want %v", kind, name, got, tt.want)
			}
		}
		if got := (ring{rand.Text()}).open(text, &here); got != (token{}) {
			t.Errorf("kind %d, another key: %v", kind, got)
		}
	}
	for _, d := range []time.Duration{-time.Minute, -time.Second, 0, tokenLife, tokenLife + 2*time.Second} {
		if got, want := page.as(openToken).isFresh(openToken, noon.Add(d), tokenLife), d >= -time.Second && d <= tokenLife; got != want {
			t.Errorf("after %s: fresh %t", d, got)
		}
	}
}

func FuzzOpen(f *testing.F) {
	keys := ring{rand.Text()}
	good := keys.text(newToken(noon).as(styleToken), &here)
	for _, text := range []string{"", good, good[:tokenLen-1], good + "A", strings.Repeat("A", tokenLen), strings.Repeat("\n", tokenLen), strings.ToUpper(good)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := keys.open(text, &here); got != (token{}) && got.kind != openToken && text != good {
			t.Errorf("%q: %v", text, got)
		}
	})
}

// A redirect stays on the host, and keeps the path and the query.
func FuzzRedirectTarget(f *testing.F) {
	for _, target := range []string{
		"/", "/a?b=c", "//evil.test/", `/\evil.test`, "///x", "http://evil.test/x?y", "https:evil.test", "javascript:alert(1)", "*", "", "/a\r\nX: y", "/ä#x",
		"/\t/evil.test", `/."><script>`, "/a/..//evil.test", "http:///x", "/%2f/evil.test", "/;x",
	} {
		f.Add(target)
	}
	f.Fuzz(func(t *testing.T, target string) {
		got := withToken(redirectTarget(target), "T")
		if !strings.HasPrefix(got, "/") || strings.HasPrefix(got, "//") || strings.HasPrefix(got, `/\`) || strings.ContainsAny(got, "\r\n\t #<>\"") {
			t.Errorf("%q leads to %q", target, got)
		}
		rest, value, found := cutParameter(got)
		if !found || value != "T" || strings.Contains(rest, "&"+parameter) {
			t.Errorf("%q: %q has the parameter %q", target, got, value)
		}
		if !strings.ContainsAny(target, "?") && strings.HasPrefix(target, "/") && strings.TrimPrefix(rest, "/.") != strings.TrimPrefix(escaped(target), "/.") {
			t.Errorf("%q became %q", target, rest)
		}
	})
}

// Each request of a person with a pass opens it.
func TestOpeningAPassAllocatesNothing(t *testing.T) {
	keys := ring{rand.Text()}
	text := keys.text(newToken(noon).as(passToken), &here)
	if n := testing.AllocsPerRun(100, func() { keys.open(text, &here) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
