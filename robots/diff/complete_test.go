package diff

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/robots"
)

// paths are all paths of up to six octets of a small alphabet.
var paths = func() (list []string) {
	list = []string{"/"}
	for from := 0; len(list[len(list)-1]) < 6; {
		to := len(list)
		for _, p := range list[from:to] {
			for _, c := range "ab/?" {
				list = append(list, p+string(c))
			}
		}
		from = to
	}
	return append(list, "/%26", "/a?%26", "/a?&", "/?%2Fa", "/?a%2F", "/b?%2F", "/robots.txt", "/robots.txt?a", "/robots.txtb")
}()

// checkComplete checks that each path of a change has the old and the new
// verdict of that change, and that there is a change for each path with
// different verdicts. It does not check the second if the result is not
// complete; then it returns false.
func checkComplete(t *testing.T, x, y []byte, more ...string) (complete bool) {
	t.Helper()
	before, after := robots.Parse(x), robots.Parse(y)
	r := Compare(before, after)
	reported := map[string]map[bool]bool{}
	for _, c := range r.Changes {
		if c.What != "verdict" || c.Reading != "" {
			continue
		}
		for _, crawler := range c.Crawlers {
			name := canonical.Lower(crawler)
			if reported[name] == nil {
				reported[name] = map[bool]bool{}
			}
			reported[name][c.Allowed] = true
			a, b := before.Group(crawler), after.Group(crawler)
			for _, p := range c.Paths {
				if a.Match(p).Allowed == c.Allowed || b.Match(p).Allowed != c.Allowed {
					t.Fatalf("%q for %q: before %v, after %v, want a change to %v", p, crawler, a.Match(p).Allowed, b.Match(p).Allowed, c.Allowed)
				}
			}
		}
	}
	if !r.Complete {
		return false
	}
	for _, crawler := range append(slices.Concat(before.Tokens(), after.Tokens(), before.Words()), "*") {
		a, b := before.Group(crawler), after.Group(crawler)
		for _, p := range append(more, paths...) {
			if v, w := a.Match(p), b.Match(p); v.Allowed != w.Allowed && !reported[canonical.Lower(crawler)][w.Allowed] {
				t.Fatalf("%q for %q: before %v, after %v, but the result has no change\n%s\n%s", p, crawler, v.Allowed, w.Allowed, x, y)
			}
		}
	}
	return true
}

// randomFile returns rules of a small alphabet, so that they often match the
// same paths.
func randomFile(rnd *rand.Rand) []string {
	list := []string{"User-agent: *"}
	for range rnd.IntN(5) {
		var b strings.Builder
		b.WriteString([]string{"Allow: ", "Disallow: "}[rnd.IntN(2)])
		b.WriteString([]string{"/", "/", "/", "*", "/*"}[rnd.IntN(5)])
		for range rnd.IntN(5) {
			b.WriteString([]string{"a", "b", "a", "b", "/", "*", "?"}[rnd.IntN(7)])
		}
		if rnd.IntN(3) == 0 {
			b.WriteByte('$')
		}
		list = append(list, b.String())
	}
	return list
}

// The result of Compare is checked with all short paths, for files that differ
// in one rule or in all rules.
func TestCompareAgainstEveryPath(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	complete := 0
	const pairs = 400
	for i := range pairs {
		before := randomFile(rnd)
		after := randomFile(rnd)
		if i%2 == 0 {
			after = slices.Concat(before, after[1:min(len(after), 2)])
		}
		if checkComplete(t, []byte(strings.Join(before, "\n")), []byte(strings.Join(after, "\n"))) {
			complete++
		}
	}
	if complete < pairs*9/10 { // the others have an Allow rule with a part that no path as served has, such as /a//b
		t.Errorf("%d of %d comparisons are complete", complete, pairs)
	}
}

func FuzzCompare(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /a*b\n"), []byte("User-agent: *\nAllow: /*b$\nUser-agent: x\nCrawl-delay: 1\n"), "/ab")
	f.Add([]byte("User-agent: x\nDisallow: /\nAllow: /b\n"), []byte("User-agent: *\nDisallow: /*?a\n"), "/b?a")
	f.Add([]byte("User-agent: *\nAllow: /a$\nAllow: /ax$\nAllow: /a/x$\n"), []byte("User-agent: *\nAllow: /a$\nAllow: /ax$\nAllow: /a/x$\nDisallow: /a\n"), "/ab")
	f.Add([]byte("User-agent: *\nDisallow: /*&a\nDisallow: /*/b\n"), []byte("User-agent: *\nDisallow: /*?*&a\nAllow: /*?%26\n"), "/b?%26a")
	f.Fuzz(func(t *testing.T, x, y []byte, path string) {
		if len(x) > 400 || len(y) > 400 || len(path) > 100 {
			return
		}
		checkComplete(t, x, y, path)
		before := robots.Parse(x)
		if same := Compare(before, before); len(same.Changes) > 0 {
			t.Fatalf("a file differs from itself: %+v", same.Changes)
		}
	})
}
