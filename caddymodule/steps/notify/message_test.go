package notify

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/caddyserver/caddy/v2"
)

func eventOf(t testing.TB, name string, data map[string]any) caddy.Event {
	t.Helper()
	e, err := caddy.NewEvent(caddy.Context{}, name, data)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A message says what is wrong, who does it, which line it is, and what to do.
func TestMessages(t *testing.T) {
	data := map[string]any{"state": "begin", "site": "shop.test", "crawler": "Googlebot", "line": 3, "since": "2026-11-22T14:02:11Z",
		"what": "Googlebot, a verified search engine, is refused at shop.test", "advice": "Mend the line.", "pattern": "", "fresh": false}
	const body = "Googlebot, a verified search engine, is refused at shop.test.\nCrawler: Googlebot\nLine of robots.txt: 3\nSince: 2026-11-22T14:02:11Z"
	for _, tt := range []struct{ state, advice, title, body string }{
		{"begin", "Mend the line.", "robots: search refused at shop.test", body + "\nWhat to do: Mend the line."},
		{"change", "Mend the line.", "robots: search refused at shop.test changed", body + "\nWhat to do: Mend the line."},
		{"worse", "Mend the line.", "robots: search refused at shop.test got worse", body + "\nWhat to do: Mend the line."},
		{"end", "", "robots: search refused at shop.test ended", "It has ended. It was: " + body},
	} {
		data["state"], data["advice"] = tt.state, tt.advice
		if m := news(eventOf(t, "robots_search_refused", data), time.Now()); m.title != tt.title || m.body != tt.body {
			t.Errorf("%s:\n%s\n\n%s\n\nwant\n\n%s\n\n%s", tt.state, m.title, m.body, tt.title, tt.body)
		}
	}
	data["site"], data["pattern"] = "tenant.test", "*"
	if m := news(eventOf(t, "robots_search_refused", data), time.Now()); m.title != "robots: search refused at tenant[.]test ended" {
		t.Errorf("at a host of a site for all hosts: %s", m.title)
	}
}

// Whatever text an event has, no message mentions anybody, and has no link, markup or
// control character of its own.
func FuzzMessages(f *testing.F) {
	for _, text := range []string{"@everyone", "<!channel>", "<script>", "[x](https://evil.test)", "https://evil.test", "a\r\nBcc: x@evil.test\r\n\r\n", "\x1b[31m", "\u202e",
		"![x](y)", "<@123>", strings.Repeat("x", 5000)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e := eventOf(t, "robots_flood", map[string]any{"state": "begin", "site": text, "crawler": text, "what": text, "advice": text, "pattern": text})
		m := news(e, time.Now())
		if strings.ContainsAny(m.title+m.body, "@<>\r\x1b") || strings.Contains(m.title+m.body, "://") || strings.Contains(m.title+m.body, "](") || strings.Contains(m.title, "\n") {
			t.Errorf("%q: %q", text, m.title+m.body)
		}
		if strings.ContainsFunc(m.title+m.body, func(c rune) bool { return c != '\n' && !unicode.IsPrint(c) }) {
			t.Errorf("%q: control characters in %q", text, m.title+m.body)
		}
		if n := len([]rune(m.body)); n > maxText+len(" ...") {
			t.Errorf("%d characters", n)
		}
	})
}
