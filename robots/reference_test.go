package robots

import (
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/internal/test/reference"
)

// referenceRules returns the rules for a token: those below all User-agent
// lines that name it (RFC 9309, section 2.2.1).
func referenceRules(f *File, token string) (rules []Rule, found bool) {
	reading, in := false, false // the last line was a User-agent line; the group names the token
	for l := range f.Lines() {
		switch l.Directive {
		case DirectiveUserAgent:
			if !reading {
				reading, in = true, false
			}
			if canonical.Lower(ProductToken(l.Value)) == canonical.Lower(token) {
				in, found = true, true
			}
		case DirectiveAllow, DirectiveDisallow:
			reading = false
			if in && l.Value != "" {
				rules = append(rules, Rule{Allow: l.Directive == DirectiveAllow, Pattern: l.Value, Line: l.Number})
			}
		}
	}
	return rules, found
}

// checkAgainstReference compares groups, rules and verdicts with the
// implementation in package reference.
func checkAgainstReference(t *testing.T, text []byte, target string) {
	t.Helper()
	f := Parse(text)
	tokens := append([]string{"*"}, f.Tokens()...)
	for _, token := range tokens[:min(len(tokens), 4)] {
		rules, found := referenceRules(f, token)
		g := f.Named(token)
		if token == "*" {
			g = f.Star()
		}
		if found != (g != nil) {
			t.Fatalf("group of %q: %v, want %v", token, g != nil, found)
		}
		if !slices.Equal(g.Rules(), rules) {
			t.Fatalf("rules of %q: %v, want %v", token, g.Rules(), rules)
		}
		path := canonical.OriginForm(target)
		if !strings.HasPrefix(path, "/") {
			path = "/" + path
		}
		var list []reference.Rule
		for _, r := range rules {
			list = append(list, reference.Rule{Allow: r.Allow, Pattern: r.Pattern})
		}
		allowed, length := reference.Verdict(list, path)
		v := g.Match(target)
		if v.Allowed != allowed {
			t.Fatalf("Match(%q) for %q = %v by %v, want %v by %d octets\n%s", target, token, v.Allowed, v.Rule(), allowed, length, text)
		}
	}
}

func FuzzMatchAgrees(f *testing.F) {
	rules := []string{
		"Disallow: /a\nAllow: /a/b$\nDisallow: /*b*c$\n",
		"Allow: /*?x=\nDisallow: /*%2f*/\nDisallow: /a%2A$\nDisallow: *a*b*c*d\n",
		"Disallow: /%7e%C3%A9é\nAllow: /~\nDisallow: /a*\nAllow: /a**\nDisallow: /$\n",
		"Disallow: /*ab*\nDisallow: /*bc\nDisallow: /*cd*\nDisallow: /*da*\nDisallow: /*ee*\nAllow: /*abc\n",
		"Disallow: /a?b=%2f&c=%26\nAllow: /a?b=*&\nDisallow: /*=*%3f\n",
	}
	targets := []string{"/", "/a/b", "/abcd", "/aab?x=%2f/", "/a?b=/&c=%26d?e=%3f", "/%c3%A9", "/a*$", "/ab%", "x:y", "*"}
	for i, r := range rules {
		for _, target := range targets {
			f.Add([]byte("User-agent: *\n"+r), target)
			f.Add([]byte("User-agent: a\nUser-agent: B/1\n"+rules[(i+1)%len(rules)]+"User-agent: *\n"+r), target)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, target string) {
		if len(text) > 2000 || len(target) > 300 {
			return
		}
		checkAgainstReference(t, text, target)
	})
}

// Rules and targets of a small alphabet match each other often, so this test
// covers how wildcards interact.
func TestMatchAgreesWithReference(t *testing.T) {
	const alphabet = "ab/*$?%2Ff"
	next := uint32(1)
	random := func(n int) int {
		next = next*1664525 + 1013904223
		return int(next>>8) % n
	}
	word := func(longest int) string {
		var b strings.Builder
		b.WriteByte('/')
		for range random(longest) {
			b.WriteByte(alphabet[random(len(alphabet))])
		}
		return b.String()
	}
	for range 300 {
		var b strings.Builder
		b.WriteString("User-agent: *\n")
		for range 1 + random(30) {
			b.WriteString([]string{"Allow: ", "Disallow: "}[random(2)])
			if random(8) == 0 {
				b.WriteByte('*')
			}
			b.WriteString(word(8))
			b.WriteByte('\n')
		}
		for range 10 {
			checkAgainstReference(t, []byte(b.String()), word(14))
		}
	}
}

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }
