package managed

import (
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/robots"
)

// Changed says briefly how the policy's lines differ between two merged files:
// which crawlers they name now, and which they no longer name. It returns "" if
// the lines say the same. At most ten crawlers of each kind are named.
func Changed(before, after []byte) string {
	was, is := named(before), named(after)
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

// named returns the policy's lines in a merged file for each token.
func named(text []byte) map[string]string {
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
		list[token] = says(f.Named(token), true)
	}
	if star := f.Star(); star != nil {
		list["*"] = says(star, true)
	}
	return list
}
