package audit

import (
	"reflect"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
	"github.com/caddy-robots/caddy-robots/internal/nearmiss"
)

// Where robots got paths that differ from those of a line that never applied, the line and
// what to add to it are named.
func TestNearMisses(t *testing.T) {
	line := func(target, agent string) string {
		return `192.0.2.1 - - [07/Nov/2026:12:00:00 +0000] "GET ` + target + ` HTTP/1.1" 200 5 "-" "` + agent + `"` + "\n"
	}
	const bot, gpt, browser = "ExampleBot/1.0 (+https://example.org)", "GPTBot/1.2", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	text := strings.Repeat(line("/similar/", bot), 1234) + line("/similar?id=7", bot) + line("/similarity", bot) + line("/similar/x", browser) +
		line("/private/a", bot) + line("/private/b", bot) + line("/private/b", bot) + line("/private/c", bot) + line("/private/d", bot) +
		line("/used", bot) + line("/used/", bot) + line("/named", gpt) + line("/named/", bot)
	robotsTxt := "User-agent: *\nDisallow: /similar$\nDisallow: /Private/\nDisallow: /used$\nDisallow: /never/\n\nUser-agent: GPTBot\nDisallow: /named$\nDisallow: /named/\nDisallow: /similar/\n"
	r := mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(text))}, Sites: oneSite(robotsTxt)})
	similar, private := ruleOf(t, r, 2), ruleOf(t, r, 3)
	want := []nearmiss.Count{{Add: "Disallow: /similar/", Requests: 1234, Paths: []string{"/similar/"}}, {Add: "Disallow: /similar?", Requests: 1, Paths: []string{"/similar?id=…"}}}
	for i := range similar.Near {
		if n := similar.Near[i]; i >= len(want) || n.Add != want[i].Add || n.Requests != want[i].Requests || !reflect.DeepEqual(n.Paths, want[i].Paths) {
			t.Errorf("%+v", n)
		}
	}
	if want := `robots requested /similar/ 1,234 times: add "Disallow: /similar/"; robots requested /similar?id=… 1 time: add "Disallow: /similar?"`; similar.Why != want || len(similar.Near) != 2 {
		t.Errorf("%q, want %q", similar.Why, want)
	}
	if want := `robots requested /private/a and others 5 times: add "Disallow: /private/"`; private.Why != want || len(private.Near) != 1 || len(private.Near[0].Paths) != 3 {
		t.Errorf("%q %+v, want %q", private.Why, private.Near, want)
	}
	for _, number := range []int{4, 5, 8, 9, 10} {
		if l := ruleOf(t, r, number); l.Near != nil {
			t.Errorf("line %d: %+v", number, l)
		}
	}
	f := findingOf(r, "never_applied")
	if !strings.Contains(f.Text, `line 2 (Disallow: /similar$), because robots requested /similar/ 1,234 times: add "Disallow: /similar/"; `) ||
		f.Paste != "Disallow: /similar$\nDisallow: /similar/" {
		t.Errorf("%+v", f)
	}
}
