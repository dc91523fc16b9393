package judge

import (
	"testing"

	"github.com/caddy-robots/caddy-robots/robots"
)

// Files have the same version only if their groups have the same rules.
func TestHashOfPathRules(t *testing.T) {
	hash := func(dialect robots.Dialect, text string) uint64 {
		rules, err := Settings{Dialect: dialect}.Compile()
		if err != nil {
			t.Fatal(err)
		}
		return rules.compile(Content{Body: []byte(text)}).pathRules
	}
	const file = "User-agent: a\nUser-agent: b\nDisallow: /x\n"
	for _, tt := range []struct {
		dialect robots.Dialect
		text    string
		same    bool
	}{
		{robots.RFC9309, "# comment\nUser-agent: a\n\nUser-agent: b\nDisallow: /x\nCrawl-delay: 5\n", true},
		{robots.RFC9309, "User-agent: a\nDisallow:\nUser-agent: b\nDisallow: /x\n", false},
		{robots.RFC9309, "User-agent: a\nUser-agent: b\nAllow: /x\n", false},
		{robots.RFC9309, "User-agent: a\nDisallow: /x\n", false},
		{robots.Koster1994, "User-agent: a\n \nUser-agent: b\nDisallow: /x\n", false}, // b alone
		{robots.Koster1994, "# comment\nUser-agent: a\n# comment\nUser-agent: b\nDisallow: /x\n", true},
	} {
		if same := hash(tt.dialect, tt.text) == hash(tt.dialect, file); same != tt.same {
			t.Errorf("%v: %q has the same version: %v", tt.dialect, tt.text, same)
		}
	}
}
