package headers

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzMatch checks that Match finds the rules whose patterns match, and that a pattern
// for names matches the same names as its regular expression.
func FuzzMatch(f *testing.F) {
	f.Add("*.pdf\na*b\n~ \\.(pdf|docx?)$\n/drafts/*?x$\nnot *.html\n~ (?i)^readme", "/x/%61.pdf?q")
	f.Add("~ ^a?b$\n~ .*x$\n~ ^k.*\n~ (?i)ks$\n/a%2Fb", "/a%2fb/../\u212a\u017f")
	f.Add("*\n?\n**\n*a*", "http://x/..//a/.")
	f.Fuzz(func(t *testing.T, patterns, target string) {
		var list []Setting
		for line := range strings.Lines(patterns) {
			line = strings.TrimSuffix(line, "\n")
			if len(list) == 50 {
				break
			}
			words := []string{line, "noindex"}
			if rest, found := strings.CutPrefix(line, "~ "); found {
				words = []string{"~", rest, "noindex"}
			} else if rest, found := strings.CutPrefix(line, "not "); found {
				words = []string{"not", rest, "noindex"}
			}
			if r, err := ParseSetting(words); err == nil {
				// Each rule has another value, which shows the rule in a match.
				r.Directives = ReadDirectives("max-snippet:" + strconv.Itoa(len(list)))
				list = append(list, r)
			}
		}
		rules, err := Compile(list)
		if err != nil {
			t.Fatalf("Compile with valid rules: %v", err)
		}
		m := rules.Match(target)
		var got, want []int32
		m.each(func(s *compiled) { got = append(got, s.Directives.limits[snippet]) })
		slices.Sort(got)
		v, b := read(target, true)
		for i, r := range rules.rules {
			matches := r.matches(&v)
			if g, ok := r.pattern.(*nameGlob); ok && utf8.ValidString(g.pattern) && utf8.ValidString(v.name) {
				text := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(g.pattern))
				if re := regexp.MustCompile("(?s)^" + text + "$"); re.MatchString(v.name) != matches {
					t.Errorf("pattern %q on %q: %v, but the regular expression %s has the opposite", g.pattern, v.name, matches, re)
				}
			}
			if matches != r.Not {
				want = append(want, int32(i))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("patterns %q on %q: Match finds %v, want %v", patterns, target, got, want)
		}
		if strings.Contains(v.name, "/") {
			t.Errorf("the file name of %q is %q", target, v.name)
		}
		normal := string(appendNormal(nil, target))
		if again := string(appendNormal(nil, normal)); again != normal {
			t.Errorf("normal form of %q is %q, and the normal form of that is %q", target, normal, again)
		}
		b.release()
	})
}
