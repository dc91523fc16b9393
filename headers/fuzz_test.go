package headers

import (
	"regexp"
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
				list = append(list, r)
			}
		}
		rules, err := Compile(list)
		if err != nil {
			t.Fatalf("Compile with valid rules: %v", err)
		}
		m := rules.Match(target)
		v := read(target)
		for i, r := range rules.rules {
			matches := r.matches(v, "", 0)
			if r.Kind == "" && utf8.ValidString(r.Pattern) && utf8.ValidString(v.name) {
				text := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(r.Pattern))
				if re := regexp.MustCompile("(?s)^" + text + "$"); re.MatchString(v.name) != matches {
					t.Errorf("pattern %q on %q: %v, but the regular expression %s has the opposite", r.Pattern, v.name, matches, re)
				}
			}
			if found := m.set[i/64]>>(i%64)&1 == 1; found != (matches != r.Not) {
				t.Errorf("pattern %q on %q: Match finds it: %v", r.Pattern, target, found)
			}
		}
		if strings.Contains(v.name, "/") {
			t.Errorf("the file name of %q is %q", target, v.name)
		}
		v.release()
	})
}
