package robots

import (
	"fmt"
	"strings"
	"testing"
)

func TestDialects(t *testing.T) {
	const text = "User-agent: a b\nDisallow: /x /y\nAllow: /x/ok\nDisallow: /*z\nDisallow: /q$\n"
	tests := []struct {
		dialect     Dialect
		agent, path string
		allowed     bool
	}{
		{RFC9309, "a b", "/x%20/y", false},
		{RFC9309, "a b", "/x", true},
		{RFC9309, "a b", "/xyz", false},
		{RFC9309, "a b", "/q", false},
		{RFC9309, "a b", "/qq", true},
		{Koster1994, "a b", "/xyz", true},
		{Koster1994, "a b", "/*z", false},
		{Koster1994, "a b", "/q", true},
		{Koster1994, "a b", "/q$q", false},
		{Kollar1996, "a", "/x", false},
		{Kollar1996, "b", "/y", false},
		{Kollar1996, "b", "/x/ok", false}, // the first match wins
		{Kollar1996, "c", "/x", true},
	}
	for _, tt := range tests {
		f := Parse([]byte(text), WithDialect(tt.dialect))
		if v := f.Group(tt.agent).Match(tt.path); v.Allowed != tt.allowed {
			t.Errorf("%v: Match(%q) for %q = %v by %v", tt.dialect, tt.path, tt.agent, v.Allowed, v.Rule())
		}
	}
	for _, d := range []Dialect{RFC9309, Koster1994, Kollar1996} {
		if got, err := ParseDialect(d.String()); got != d || err != nil {
			t.Errorf("ParseDialect(%q) = %v, %v", d, got, err)
		}
	}
	if _, err := ParseDialect("1997"); err == nil {
		t.Error("ParseDialect(1997) returns no error")
	}
}

// Koster 1994: a blank line ends a record, a comment does not, and the first
// rule that matches decides.
func TestKoster1994(t *testing.T) {
	for _, tt := range []struct {
		name, text, path string
		want             bool
	}{
		{"a blank line ends a record", "User-agent: *\nDisallow: /a\n\nDisallow: /b\n", "/b", true},
		{"a line of blanks ends a record", "User-agent: *\nDisallow: /a\n \t\nDisallow: /b\n", "/b", true},
		{"a comment does not end a record", "User-agent: *\nDisallow: /a\n# b\nDisallow: /b\n", "/b", false},
		{"a blank line ends a record without rules", "User-agent: *\n\nDisallow: /b\n", "/b", true},
		{"the next record applies to another crawler", "User-agent: x\n\nUser-agent: *\nDisallow: /b\n", "/b", false},
		{"the first match decides", "User-agent: *\nAllow: /b\nDisallow: /b/c\n", "/b/c", true},
		{"the first match of several records decides", "User-agent: *\nDisallow: /b\n\nUser-agent: *\nAllow: /b/c\n", "/b/c", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := Parse([]byte(tt.text), WithDialect(Koster1994))
			if v := f.Group("anybot").Match(tt.path); v.Allowed != tt.want {
				t.Errorf("%s: allowed %v by %v, want %v", tt.path, v.Allowed, v.Rule(), tt.want)
			}
		})
	}
	if g := Parse([]byte("User-agent: x\n\nUser-agent: *\nDisallow: /b\n"), WithDialect(Koster1994)).Group("x"); !g.Match("/b").Allowed {
		t.Error("the record of x does not end at the blank line")
	}
}

// The first match in the file decides, also if there are more rules than the
// parser compiles together.
func TestKoster1994LargeFile(t *testing.T) {
	var own, agents, rules strings.Builder
	for i := range 20 {
		fmt.Fprintf(&own, "User-agent: a%d\nDisallow: /u\nDisallow: /v\nAllow: /r1000\n\n", i)
		fmt.Fprintf(&agents, "User-agent: a%d\n", i)
	}
	for i := range 3000 {
		fmt.Fprintf(&rules, "Disallow: /r%d\n", i)
	}
	f := Parse([]byte(own.String()+agents.String()+rules.String()), WithDialect(Koster1994))
	several := 0
	for i := range 20 {
		g := f.Group(fmt.Sprintf("a%d", i))
		if len(g.rules) > 1 {
			several++
		}
		if v := g.Match("/r1000"); !v.Allowed {
			t.Errorf("a%d: disallowed by line %d, after a rule that allows it", i, v.Rule().Line)
		}
		if g.Match("/r1001").Allowed {
			t.Errorf("a%d: /r1001 is allowed", i)
		}
	}
	if several == 0 {
		t.Error("all rules are compiled together, so this test does not test several rulesets")
	}
}
