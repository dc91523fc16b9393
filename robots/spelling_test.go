package robots

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/test/reference"
)

// speller makes rules, files that they match, and other spellings of these files.
// It shares no code with the package.
type speller struct{ *rand.Rand }

func (s speller) one(list ...string) string { return list[s.IntN(len(list))] }

func (s speller) chance(n int) bool { return s.IntN(n) == 0 }

// rules returns lines with all kinds of segments, escapes and wildcards.
func (s speller) rules() (rules []reference.Rule) {
	for range 1 + s.IntN(5) {
		var b strings.Builder
		for range 1 + s.IntN(3) {
			b.WriteString(s.one("/", "/", "/", "/", "//", "/./", "/../", "%2F", "/*/", "*", "/%2e/", "/%2F"))
			b.WriteString(s.one("a", "b", "a", "priv", "é", "%c3%A9", "%24", "$", "a%2Fb", "%3a", ":", "c;d", "%7E", "x.pdf", "%20", "%25", "%5C", "%3F", "", "%2A", "a?q=%24"))
		}
		p := b.String() + s.one("", "", "/", "*", "$", "/$")
		if !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "*") {
			p = "/" + p
		}
		rules = append(rules, reference.Rule{Pattern: p, Allow: s.chance(3)})
	}
	return rules
}

func linesOf(rules []reference.Rule) string {
	text := "User-agent: *\n"
	for _, r := range rules {
		text += map[bool]string{true: "Allow: ", false: "Disallow: "}[r.Allow] + r.Pattern + "\n"
	}
	return text
}

// file returns the decoded path of a file that a pattern could be about.
func (s speller) file(pattern string) string {
	pattern, _, _ = strings.Cut(strings.TrimSuffix(pattern, "$"), "?")
	p, err := url.PathUnescape(strings.ReplaceAll(pattern, "*", s.one("a", "/b/", "", "é")))
	if err != nil {
		return "/a"
	}
	p += s.one("", "", "a", "/a", "x.pdf", "/")
	clean := path.Clean("/" + p)
	if strings.HasSuffix(p, "/") && clean != "/" {
		clean += "/"
	}
	return clean
}

// canonicalOf returns the canonical spelling of a decoded path.
func canonicalOf(file string) string {
	var b strings.Builder
	for _, c := range []byte(file) {
		switch {
		case c == kept:
			b.WriteString("%2F")
		case c <= ' ' || c >= 0x7f || strings.IndexByte("%#?", c) >= 0:
			fmt.Fprintf(&b, "%%%02X", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// kept stands for a slash that a back end does not take for a separator if it is
// escaped.
const kept = '\x01'

// keepSlashes replaces slashes within a path by kept.
func (s speller) keepSlashes(file string) string {
	b := []byte(file)
	for i := 1; i < len(b)-1; i++ {
		if b[i] == '/' && s.chance(2) {
			b[i] = kept
		}
	}
	return string(b)
}

// spell returns a target for which a back end with the options o serves a file.
func (s speller) spell(file string, o ViewOptions) string {
	slashes := []string{"/", "/", "//", "/./", "/%2e/", "/zz/../"}
	if !strings.ContainsRune(file, kept) {
		slashes = append(slashes, "%2F", "%2f", "/zz/..%2f", "/zz%2F%2e%2E//", "/.%2F")
	}
	if o.StripParams {
		slashes = append(slashes, ";p=1/", ";/", "/;x/", "/.;x/", "/zz/..;y/")
	}
	if o.Windows {
		slashes = append(slashes, `\`, "%5c", "%5C", `/zz/..\`, "./", "%20/", "/.../", ". %2e/")
	}
	folds := o.FoldCase || o.Windows
	var b strings.Builder
	for i, c := range []byte(file) {
		switch {
		case c == '/' && i == 0:
			b.WriteString(s.one("/", "/", "/", "//", "/./", "/%2e/", "/zz/../", "/..//"))
			continue
		case c == '/':
			b.WriteString(s.one(slashes...))
			continue
		case c == kept:
			b.WriteString(s.one("%2F", "%2f"))
			continue
		case folds && 'a' <= c && c <= 'z' && s.chance(2):
			c -= 'a' - 'A'
		case folds && c == 0xa9 && s.chance(2): // of é
			c = 0x89
		}
		raw := c > ' ' && c < 0x7f && strings.IndexByte("%#?", c) < 0 || c >= 0x80
		switch {
		case c == ';' && o.StripParams, c == '\\' && o.Windows, c == '%' && o.DecodeTwice, c == ' ' && o.Windows:
			return "" // no spelling of this file
		case raw && !s.chance(5):
			b.WriteByte(c)
		case o.DecodeTwice && s.chance(2):
			fmt.Fprintf(&b, s.one("%%25%02X", "%%25%02x"), c)
		default:
			fmt.Fprintf(&b, s.one("%%%02X", "%%%02x"), c)
		}
	}
	if s.chance(3) {
		end := s.one("/.", "/%2e", "/zz/..", "/zz/%2e.")
		if strings.HasSuffix(file, "/") {
			end = s.one(".", "./", "/", "zz/..", "zz/../", "/.")
		}
		b.WriteString(end)
	}
	target := b.String()
	if s.chance(10) {
		target = "http://h.test" + target
	}
	if s.chance(4) {
		target += s.one("?", "?q=$", "?q=%24", "?x=/a/../b", "?q=%2f&r=é")
	}
	return target
}

// namesVariant reports whether an Allow line that names a spelling which is not the
// canonical one decides on a target as sent.
func namesVariant(rules []reference.Rule, target string) bool {
	return slices.ContainsFunc(rules, func(r reference.Rule) bool {
		match, _ := reference.Match(r.Pattern, target)
		p := strings.ToLower(strings.ReplaceAll(r.Pattern, "%2e", "."))
		return match && r.Allow && (strings.Contains(p, "//") || strings.Contains(p, "%2f") || strings.Contains(p, "/."))
	})
}

var spellingOptions = func() (list []ViewOptions) {
	for o := range 16 {
		list = append(list, ViewOptions{FoldCase: o&1 != 0, StripParams: o&2 != 0, DecodeTwice: o&4 != 0, Windows: o&8 != 0})
	}
	return list
}()

func cutTarget(target string) (path, query string) {
	path, query, found := strings.Cut(strings.TrimPrefix(target, "http://h.test"), "?")
	if found {
		query = "?" + query
	}
	return path, query
}

// If the canonical spelling of a file is disallowed, every other spelling of it that
// a back end with the options would serve is disallowed.
func TestEverySpellingIsDisallowed(t *testing.T) {
	s := speller{rand.New(rand.NewPCG(36, 2))}
	var v, w Views
	checked := map[ViewOptions]int{}
	for total := 0; total < 10000; {
		rules := s.rules()
		dialect := Dialect(s.IntN(4))
		f := Parse([]byte(linesOf(rules)), WithDialect(dialect))
		g := f.Star()
		for range 20 {
			file := s.file(rules[s.IntN(len(rules))].Pattern)
			o := spellingOptions[s.IntN(len(spellingOptions))]
			if o.DecodeTwice = o.DecodeTwice && s.chance(2); !o.DecodeTwice && s.chance(3) {
				file = s.keepSlashes(file)
			}
			target := s.spell(file, o)
			if target == "" {
				continue
			}
			spelt, query := cutTarget(target)
			canonical := canonicalOf(file) + query
			w.Reset(canonical, ViewOptions{})
			denied := !g.MatchViews(&w).Allowed
			if dialect == RFC9309 && !strings.ContainsRune(file, kept) {
				allowed, _ := reference.Verdict(rules, canonical)
				if denied == allowed {
					t.Fatalf("%q is disallowed: %v\n%s", canonical, denied, linesOf(rules))
				}
			}
			if !denied || namesVariant(rules, spelt+query) {
				continue
			}
			total++
			checked[o]++
			v.Reset(target, o)
			if g.MatchViews(&v).Allowed {
				t.Errorf("%s, %+v: %q is disallowed, but not %q with the views %q\n%s", dialect, o, canonical, target, targets(&v), linesOf(rules))
			}
			if t.Failed() {
				return
			}
		}
	}
	for _, o := range spellingOptions {
		if checked[o] < 100 {
			t.Errorf("only %d spellings with %+v", checked[o], o)
		}
	}
}

// An option adds views: it opens nothing that is closed without it.
func TestOptionsOpenNothing(t *testing.T) {
	s := speller{rand.New(rand.NewPCG(36, 3))}
	var v Views
	for range 2000 {
		rules := s.rules()
		f := Parse([]byte(linesOf(rules)), WithDialect(Dialect(s.IntN(4))))
		target := s.spell(s.file(rules[0].Pattern), ViewOptions{StripParams: s.chance(2), Windows: s.chance(3)})
		if s.chance(3) { // a spelling of anything
			target = s.rules()[0].Pattern
		}
		denied := make([]bool, 16)
		for o, options := range spellingOptions {
			v.Reset(target, options)
			denied[o] = !f.Star().MatchViews(&v).Allowed
			for bit := 1; bit < 16; bit <<= 1 {
				if o&bit != 0 && denied[o&^bit] && !denied[o] {
					t.Fatalf("%q is disallowed with %+v, but not with %+v\n%s", target, spellingOptions[o&^bit], options, linesOf(rules))
				}
			}
		}
	}
}

// For one of Google's crawlers, only what both readings disallow is disallowed. It is
// so in every spelling, and the case of hexadecimal digits and UTF-8 without escapes
// make no difference.
func TestGoogleSpellings(t *testing.T) {
	s := speller{rand.New(rand.NewPCG(36, 4))}
	var v Views
	denied := 0
	for range 10000 {
		rules := s.rules()
		f := Parse([]byte(linesOf(rules)))
		google := f.GoogleReading()
		denies := func(target string) bool {
			v.Reset(target, ViewOptions{})
			return !f.Star().MatchViews(&v).Allowed && (google == nil || !google.Star().MatchViews(&v).Allowed)
		}
		file := s.file(rules[s.IntN(len(rules))].Pattern)
		canonical, target := canonicalOf(file), s.spell(file, ViewOptions{})
		if spelt, query := cutTarget(target); denies(canonical+query) && !namesVariant(rules, spelt+query) && !denies(target) {
			t.Fatalf("%q is disallowed, but not %q\n%s", canonical+query, target, linesOf(rules))
		}
		var sent, same strings.Builder
		pattern := strings.NewReplacer("*", "a", "é", "%C3%A9").Replace(strings.TrimSuffix(rules[0].Pattern, "$"))
		for i := 0; i < len(pattern); i++ {
			switch escape := pattern[i:min(i+3, len(pattern))]; {
			case pattern[i] != '%':
				sent.WriteByte(pattern[i])
				same.WriteByte(pattern[i])
			case strings.HasPrefix(pattern[i:], "%C3%A9"):
				sent.WriteString(s.one("é", "%c3%A9"))
				same.WriteString(s.one("%C3%A9", "%C3%a9"))
				i += 5
			default:
				sent.WriteString(strings.ToLower(escape))
				same.WriteString(strings.ToUpper(escape))
				i += 2
			}
		}
		x, y := denies(sent.String()), denies(same.String())
		if x != y {
			t.Fatalf("%q is disallowed: %v, but %q: %v\n%s", sent.String(), x, same.String(), y, linesOf(rules))
		}
		if x {
			denied++
		}
	}
	if denied < 1000 {
		t.Errorf("only %d targets are disallowed", denied)
	}
}
