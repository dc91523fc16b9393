package managed

import (
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/robots"
)

// Changed returns a short description of how the policy's lines differ between
// two merged files: the crawlers with a new group, without a group any longer,
// and with other rules. It names at most ten crawlers of each kind. It returns
// "" if the rules are the same.
func Changed(before, after []byte) string {
	was, is := rulesByToken(before), rulesByToken(after)
	var parts []string
	say := func(what string, from, to map[string]string, differ func(a, b string, both bool) bool) {
		var tokens []string
		for token, rules := range from {
			other, both := to[token]
			if differ(rules, other, both) {
				tokens = append(tokens, token)
			}
		}
		if slices.Sort(tokens); len(tokens) > 0 {
			parts = append(parts, what+" "+listed(tokens, 10))
		}
	}
	say("new:", is, was, func(_, _ string, both bool) bool { return !both })
	say("no longer named:", was, is, func(_, _ string, both bool) bool { return !both })
	say("other rules:", is, was, func(a, b string, both bool) bool { return both && a != b })
	return strings.Join(parts, "; ")
}

// rulesByToken returns, for each token in the policy's lines of a merged file,
// the text of its rules.
func rulesByToken(text []byte) map[string]string {
	inside := false
	var section strings.Builder
	for l := range robots.Parse(text).Lines() {
		switch mark := strings.TrimSpace(l.Raw); mark {
		case beginMarker:
			inside = true
		case endMarker:
			inside = false
		default:
			if inside {
				section.WriteString(l.Raw + "\n")
			}
		}
	}
	f := robots.Parse([]byte(section.String()))
	list := map[string]string{}
	for _, token := range f.Tokens() {
		list[token] = rulesText(f.Named(token), true)
	}
	if star := f.Star(); star != nil {
		list["*"] = rulesText(star, true)
	}
	return list
}
