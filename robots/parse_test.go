package robots

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// describeRules returns the rules of a group, with their line numbers.
func describeRules(g *Group) string {
	var list []string
	for _, r := range g.Rules() {
		list = append(list, fmt.Sprintf("%d %s", r.Line, r))
	}
	return strings.Join(list, "; ")
}

func TestParseLines(t *testing.T) {
	tests := []struct{ name, text, want string }{
		// RFC 9309, section 2.2: EOL = *WS [comment] (CR / LF / CRLF)
		{"LF", "User-agent: *\nDisallow: /a\nDisallow: /b", "2 Disallow: /a; 3 Disallow: /b"},
		{"CRLF", "User-agent: *\r\nDisallow: /a\r\n\r\nDisallow: /b\r\n", "2 Disallow: /a; 4 Disallow: /b"},
		{"CR", "User-agent: *\rDisallow: /a\r\rDisallow: /b\r", "2 Disallow: /a; 4 Disallow: /b"},
		{"mixed", "User-agent: *\r\rDisallow: /a\n\rDisallow: /b\r\n", "3 Disallow: /a; 5 Disallow: /b"},
		{"blanks around", " \tUser-agent \t:\t* \nDisallow:/a\t\n  Disallow :  /b  ", "2 Disallow: /a; 3 Disallow: /b"},
		{"comments", "# x\nUser-agent: * # all\nDisallow: /a#b\n#Disallow: /c\nDisallow: # nothing\nDisallow: /d", "3 Disallow: /a; 6 Disallow: /d"},
		{"case", "USER-AGENT: *\ndIsAlLoW: /A\naLLOW: /B", "2 Disallow: /A; 3 Allow: /B"},
		{"unknown lines", "User-agent: *\nfoo\nfoo: bar\n: /\nDisallow: /a\n<br>", "5 Disallow: /a"},
		// RFC 9309, section 2.3: UTF-8; Google's parser skips a BOM and a part of one.
		{"byte order mark", "\xef\xbb\xbfUser-agent: *\nDisallow: /a", "2 Disallow: /a"},
		{"a part of a byte order mark", "\xef\xbbUser-agent: *\nDisallow: /a", "2 Disallow: /a"},
		{"another octet inside a byte order mark", "\xef\x11\xbfUser-agent: *\nDisallow: /a", ""},
		{"not UTF-8", "User-agent: *\n\xff\xfe: x\nDisallow: /\xff", "3 Disallow: /\xff"},
		{"NUL", "User-agent: *\n\x00\nDisallow: /a\x00b", "3 Disallow: /a\x00b"},
		{"control octets after values", "User-agent: *\x00\nDisallow: /a \x00 \x01\x7f # b\nDisallow /c\x00", "2 Disallow: /a; 3 Disallow: /c"},
		// What Google's parser accepts (google/robotstxt, robots.cc).
		{"misspelt keys", "useragent: *\ndissallow: /a\ndissalow: /b\ndisalow: /c\ndiasllow: /d\ndisallaw: /e",
			"2 Disallow: /a; 3 Disallow: /b; 4 Disallow: /c; 5 Disallow: /d; 6 Disallow: /e"},
		{"user agent", "user agent: *\nDisallow: /a", "2 Disallow: /a"},
		{"other misspellings", "User-agent: *\nDisllow: /a\nAlow: /b\nDisallow /c d", ""},
		{"no colon", "User-agent *\nDisallow /a\nAllow\t/b", "2 Disallow: /a; 3 Allow: /b"},
		{"no colon after the key, but one in the value", "User-agent: *\nDisallow /a:b", ""},
		// RFC 9309, section 2.2.2
		{"before any User-agent", "Disallow: /a\nUser-agent: *\nDisallow: /b", "3 Disallow: /b"},
		{"empty values", "User-agent: *\nDisallow:\nAllow:\nDisallow", ""},
		{"blanks within a path", "User-agent: *\nDisallow: /a b", "2 Disallow: /a b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := Parse([]byte(tt.text))
			if got := describeRules(f.Star()); got != tt.want {
				t.Errorf("rules %q, want %q", got, tt.want)
			}
			if string(f.Bytes()) != tt.text {
				t.Errorf("Bytes = %q, want %q", f.Bytes(), tt.text)
			}
		})
	}
}

// RFC 9309, section 2.2.1
func TestParseGroups(t *testing.T) {
	const two = "User-agent: a\nUser-agent: b\nDisallow: /1\n\nUser-agent: c\nDisallow: /2\n\nUser-agent: *\nDisallow: /3\n"
	tests := []struct {
		name, text, agent, want string
	}{
		{"the first of two", two, "a", "3 Disallow: /1"},
		{"the second of two", two, "b", "3 Disallow: /1"},
		{"case", two, "C", "6 Disallow: /2"},
		{"others", two, "d", "9 Disallow: /3"},
		{"a part of a token", two, "ab", "9 Disallow: /3"},
		{"merged", "User-agent: a\nDisallow: /1\nUser-agent: b\nUser-agent: A\nDisallow: /2\n", "a", "2 Disallow: /1; 5 Disallow: /2"},
		{"merged groups for *", "User-agent: *\nDisallow: /1\nUser-agent: b\nDisallow: /2\nUser-agent: *\nDisallow: /3", "x", "2 Disallow: /1; 6 Disallow: /3"},
		{"never merged with the group for *", "User-agent: *\nDisallow: /1\nUser-agent: a\nDisallow: /2", "a", "4 Disallow: /2"},
		{"a group without rules", "User-agent: *\nDisallow: /1\nUser-agent: a\n", "a", ""},
		{"blank lines do not end a group", "User-agent: a\n\nUser-agent: b\n\nDisallow: /1\n\nDisallow: /2", "a", "5 Disallow: /1; 7 Disallow: /2"},
		{"other lines do not end a group", "User-agent: a\nSitemap: x\nCrawl-delay: 1\nfoo: bar\nUser-agent: b\nDisallow: /1", "a", "6 Disallow: /1"},
		{"an empty Disallow ends the User-agent lines", "User-agent: a\nDisallow:\nUser-agent: b\nDisallow: /1", "a", ""},
		{"the rules below a User-agent line without a token apply to no crawler", "User-agent: a\nDisallow: /1\nUser-agent:\nDisallow: /2", "a", "2 Disallow: /1"},
		{"a version", "User-agent: a/1.0 (x)\nDisallow: /1", "a", "2 Disallow: /1"},
		{"a version in the argument", "User-agent: a\nDisallow: /1", "a/2.0", "2 Disallow: /1"},
		{"with and without a version", "User-agent: a/1.0\nDisallow: /1\nUser-agent: a\nDisallow: /2", "a", "2 Disallow: /1; 4 Disallow: /2"},
		{"digits", "User-agent: MJ12bot\nDisallow: /1\nUser-agent: MJ\nDisallow: /2", "mj12bot", "2 Disallow: /1"},
		{"dots", "User-agent: archive.org_bot\nDisallow: /1\nUser-agent: archive\nDisallow: /2", "archive.org_bot", "2 Disallow: /1"},
		{"blanks", "User-agent: Sogou web spider/4.0\nDisallow: /1", "Sogou Web Spider", "2 Disallow: /1"},
		{"the first word", "User-agent: Sogou web spider\nDisallow: /1", "sogou", "2 Disallow: /1"},
		{"the first word has its own group", "User-agent: Sogou web spider\nDisallow: /1\nUser-agent: sogou\nDisallow: /2", "sogou", "4 Disallow: /2"},
		{"not a word that is not the first", "User-agent: Sogou web spider\nDisallow: /1", "spider", ""},
		{"not the part before a hyphen", "User-agent: Googlebot\nDisallow: /1", "Googlebot-Image", ""},
		{"a trailing star", "User-agent: foobot*\nDisallow: /1", "foobot", "2 Disallow: /1"},
		{"a star and more words", "User-agent: * everyone\nDisallow: /1", "foobot", "2 Disallow: /1"},
		{"a URL is not a token", "User-agent: http://www.example.com/bot\nDisallow: /1", "http", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := describeRules(Parse([]byte(tt.text)).Group(tt.agent)); got != tt.want {
				t.Errorf("rules for %q: %q, want %q", tt.agent, got, tt.want)
			}
		})
	}
}

func TestNilGroupAllowsAll(t *testing.T) {
	var g *Group
	var v Views
	v.Reset("/a//b", ViewOptions{})
	_, delayed := g.CrawlDelay()
	noindex := g.NoindexViews(&v).Line > 0
	if !g.Match("/a").Allowed || !g.MatchViews(&v).Allowed || delayed || noindex ||
		len(g.RequestRates())+len(g.VisitTimes())+len(g.Rules())+len(g.Tokens()) > 0 {
		t.Error("the nil Group does not allow everything, or has limits")
	}
}

func TestTokens(t *testing.T) {
	f := Parse([]byte("User-agent: A/1\nUser-agent: *\nUser-agent: Web Image Collector\nUser-agent: a\n" +
		"Disallow: /\nUser-agent: WebZIP (x)\nUser-agent: Mozilla/5.0 (compatible; b/1)\nUser-agent: https://x.test/\nUser-agent: ()\n"))
	want := []string{"A", "Web Image Collector", "WebZIP", "Mozilla"}
	if !slices.Equal(f.Tokens(), want) {
		t.Errorf("Tokens = %q, want %q", f.Tokens(), want)
	}
	if g := f.Named("a"); g != f.Star() || !slices.Equal(g.Tokens(), []string{"*", "A", "Web Image Collector", "Web"}) || g.Line() != 1 {
		t.Errorf("group of a: %q of line %d", g.Tokens(), g.Line())
	}
}

// RFC 9309, section 2.5: at least 500 KiB are read. A line that crosses the
// limit is ignored: `Disallow: /pri` would be another rule.
func TestParseMaxSize(t *testing.T) {
	const text = "User-agent: *\nDisallow: /a\nDisallow: /private"
	for size, want := range map[int]string{
		len(text):     "2 Disallow: /a; 3 Disallow: /private",
		len(text) - 4: "2 Disallow: /a",
		26:            "2 Disallow: /a", // just before the line's ending
		25:            "",
		0:             "",
	} {
		f := Parse([]byte(text), WithMaxSize(size))
		if got := describeRules(f.Star()); got != want || f.Truncated() != (size < len(text)) {
			t.Errorf("the first %d octets: rules %q, truncated %v; want %q", size, got, f.Truncated(), want)
		}
	}
}

// If many crawlers share rules and each has some other rules too, no rule is copied.
func TestParseSharedRulesMemory(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "User-agent: a%d\n", i)
	}
	for i := range 3000 {
		fmt.Fprintf(&b, "Disallow: /%d\n", i)
	}
	for i := range 3000 {
		fmt.Fprintf(&b, "User-agent: a%d\nAllow: /%d/ok\nCrawl-delay: %d\n", i, i, i)
	}
	f := Parse([]byte(b.String()))
	for i := range 3000 {
		g := f.Named(fmt.Sprintf("a%d", i))
		if len(g.rules) != 2 {
			t.Fatalf("a%d: %d lists of rules, want 2", i, len(g.rules))
		}
		for path, allowed := range map[string]bool{"/1": false, fmt.Sprintf("/%d/ok", i): true, fmt.Sprintf("/%d/no", i): false} {
			if v := g.Match(path); v.Allowed != allowed {
				t.Fatalf("a%d: Match(%q) = %v", i, path, v)
			}
		}
		if d, ok := g.CrawlDelay(); !ok || int(d.Delay.Seconds()) != i {
			t.Fatalf("a%d: Crawl-delay %v", i, d)
		}
		if n := len(g.Rules()); n != 3001 {
			t.Fatalf("a%d: %d rules", i, n)
		}
	}
}
