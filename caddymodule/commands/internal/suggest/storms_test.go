package suggest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	challengestep "github.com/caddy-robots/caddy-robots/caddymodule/steps/challenge"
	"github.com/caddy-robots/caddy-robots/internal/audit"
)

// stormLog is a combined log of ten minutes or more.
type stormLog struct {
	begin   time.Time
	lines   []stormLine
	network int // of the next strangers
}

type stormLine struct {
	at   time.Duration
	text string
}

func newStorm() *stormLog { return &stormLog{begin: time.Date(2026, 11, 7, 12, 0, 0, 0, time.UTC)} }

// chrome returns a User-Agent of one of many versions.
func chrome(version int) string {
	return fmt.Sprintf("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Safari/537.36", version)
}

func (l *stormLog) add(at time.Duration, client, target, agent string) {
	l.lines = append(l.lines, stormLine{at, fmt.Sprintf("example.com %s - - [%s] \"GET %s HTTP/1.1\" 200 5000 \"-\" %q\n",
		client, l.begin.Add(at).Format("02/Jan/2006:15:04:05 -0700"), target, agent)})
}

func (l *stormLog) bytes() []byte {
	slices.SortStableFunc(l.lines, func(a, b stormLine) int { return cmp.Compare(a.at, b.at) })
	var b strings.Builder
	for _, line := range l.lines {
		b.WriteString(line.text)
	}
	return []byte(b.String())
}

// people adds people who read four pages each. file is what a page embeds; "" for nothing.
func (l *stormLog) people(n int, file string, pages ...string) *stormLog {
	for i := range n {
		at, client, agent := time.Duration(i)*10*time.Minute/time.Duration(n), fmt.Sprintf("192.0.2.%d", i), chrome(200+i%30)
		for page := range 4 {
			at += 15 * time.Second
			l.add(at, client, strings.ReplaceAll(pages[page%len(pages)], "#", fmt.Sprint(i)), agent)
			if file != "" {
				l.add(at+2*time.Second, client, file, agent)
			}
		}
	}
	return l
}

// strangers adds addresses with one page each, for ten minutes, in 43 versions of Chrome,
// and what each of them fetches after it; "" for nothing.
func (l *stormLog) strangers(n int, target, after string) *stormLog {
	for i := range n {
		at, client, agent := time.Duration(i)*10*time.Minute/time.Duration(n), fmt.Sprintf("198.%d.%d.%d", 18+l.network, i/250, i%250), chrome(100+i%43)
		l.add(at, client, strings.ReplaceAll(target, "#", fmt.Sprint(i)), agent)
		if after != "" {
			l.add(at+3*time.Second, client, after, agent)
		}
	}
	return l
}

// others makes the next strangers others.
func (l *stormLog) others() *stormLog {
	l.network++
	return l
}

// poll adds addresses that request the same path every ten seconds, and nothing else.
func (l *stormLog) poll(n int, target string) *stormLog {
	for i := range n {
		for at := time.Duration(0); at < 10*time.Minute; at += 10 * time.Second {
			l.add(at, fmt.Sprintf("203.0.113.%d", i), target, chrome(100+i%5))
		}
	}
	return l
}

// elsewhere adds a referer of another site to the lines with a path.
func elsewhere(log []byte, path string) []byte {
	lines := strings.Split(string(log), "\n")
	for i, line := range lines {
		if strings.Contains(line, path) {
			lines[i] = strings.Replace(line, `"-"`, `"https://example.org/"`, 1)
		}
	}
	return []byte(strings.Join(lines, "\n"))
}

// proxied gives all lines the same address.
func proxied(log []byte) []byte {
	lines := strings.Split(string(log), "\n")
	for i, line := range lines {
		if _, rest, ok := strings.Cut(line, " - - "); ok {
			lines[i] = "example.com 10.0.0.1 - - " + rest
		}
	}
	return []byte(strings.Join(lines, "\n"))
}

// Challenge is suggested for the paths of a storm, with what it would have held and whom
// it would have asked, and for nothing else that many addresses request.
func TestChallenge(t *testing.T) {
	site := func() *stormLog {
		return newStorm().people(120, "/style.css", "/", "/wiki/page-#", "/about")
	}
	const blame = "challenge /blame/* {\n\tover 60/1m\n}"
	for _, c := range []struct {
		what   string
		log    []byte
		change func(*Input)
		want   string
		held   int64
		asked  int64
	}{
		{"a storm", site().strangers(3000, "/blame/file#.go", "").bytes(), nil, blame, 3000, 0},
		{"a storm on some files", site().strangers(3000, "/blame/file.go?x=#", "").bytes(), nil, "challenge /blame/file.go?*x= {\n\tover 60/1m\n}", 3000, 0},
		{"people there too", site().strangers(3000, "/blame/file#.go", "").people(40, "/style.css", "/blame/a#").bytes(), nil, blame, 3000, 39},
		{"two paths", site().strangers(3000, "/blame/file#.go", "").strangers(2000, "/a/b/compare/x#", "").bytes(), nil, "challenge /blame/* /a/b/compare/* {\n\tover 60/1m\n}", 5000, 0},
		{"a crowd that is not mostly people", site().strangers(1001, "/wiki/news", "").others().strangers(990, "/wiki/news", "/style.css").bytes(), nil, "challenge /wiki/news$ {\n\tover 60/1m\n}", 1001, 990},
		{"many repositories", newStorm().people(120, "/style.css", "/", "/a/b/issues/#", "/c/d/issues/#").strangers(1500, "/a/b/blame/x#", "").
			others().strangers(1500, "/c/d/blame/x#", "").others().strangers(1500, "/e/f/blame/x#", "").bytes(), nil, "challenge /*/*/blame/* {\n\tover 60/1m\n}", 4500, 0},
		{"no storm", site().bytes(), nil, "", 0, 0},
		{"a slow one", site().strangers(590, "/blame/file#.go", "").bytes(), nil, "challenge /blame/* {\n\tover 20/1m\n}", 590, 0},
		{"a flash crowd", site().strangers(3000, "/wiki/news", "/style.css").bytes(), nil, "", 0, 0},
		{"a crowd that is mostly people", site().strangers(1000, "/wiki/news", "").others().strangers(1001, "/wiki/news", "/style.css").bytes(), nil, "", 0, 0},
		{"files lie elsewhere", newStorm().people(120, "", "/", "/wiki/page-#").strangers(3000, "/wiki/news", "").bytes(), nil, "", 0, 0},
		{"all but the icon lie elsewhere", newStorm().people(30, "/favicon.ico", "/wiki/page-#").people(230, "", "/", "/wiki/page-#", "/about").strangers(3000, "/blame/file#.go", "").bytes(), nil, "", 0, 0},
		{"one proxy", proxied(site().strangers(3000, "/blame/file#.go", "").bytes()), nil, "", 0, 0},
		{"programs that poll", site().poll(200, "/api/status").bytes(), nil, "", 0, 0},
		{"readers of a feed", site().strangers(3000, "/blog/feed/", "").bytes(), nil, "", 0, 0},
		{"a frame in pages of other sites", elsewhere(site().strangers(3000, "/badge/x#", "").bytes(), "/badge/"), nil, "", 0, 0},
		{"the front page", site().strangers(3000, "/", "").bytes(), nil, "", 0, 0},
		{"every page", site().strangers(3000, "/#", "").bytes(), nil, "", 0, 0},
		{"hostile paths", site().strangers(3000, `/a{b}%0A"/#`, "").bytes(), nil, "", 0, 0},
		{"there already", site().strangers(3000, "/blame/file#.go", "").bytes(), func(in *Input) {
			in.Steps = append(in.Steps, &challengestep.Challenge{Paths: []string{"/x/*"}})
		}, "", 0, 0},
	} {
		r := suggested(t, c.log, ownFile, c.change)
		got := audit.Suggestion{}
		for _, s := range r.Suggestions {
			if s.Kind == challenge {
				got = s
			}
		}
		// The check begins when it is known who is lone, and after more pages than `over`.
		if got.Text != c.want || !isNearly(got.Requests, c.held) || !isNearly(got.Asked, c.asked) {
			t.Errorf("%s: %q holds %d and asks %d, want %q, %d and %d: %+v %q %q", c.what, got.Text, got.Requests, got.Asked, c.want, c.held, c.asked,
				r.Strangers, r.Suggested.Notes, got.Why)
		}
	}
}

// isNearly reports whether a number is at least 85 % of another one, and no more.
func isNearly(n, of int64) bool { return n <= of && 100*n >= 85*of }

// In a log of days, challenge is the last suggestion, and the others are those without it.
func TestChallengeAmongOthers(t *testing.T) {
	blames := culprit(gptbot, 900, 1, "/ann/app/raw/file#.go")
	log := write(days, append(visitors("/wiki/page-#", "/style.css"), blames, culprit(spider, 900, 1, "/ann/app/raw/file#.go"))...)
	storm := newStorm().people(120, "/style.css", "/", "/about").strangers(3000, "/ann/app/blame/file#.go", "")
	storm.begin = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	var got []string
	for _, storms := range []bool{false, true} {
		r := suggested(t, log, ownFile, func(in *Input) {
			if storms {
				in.Options.Files = append(in.Options.Files, memory(storm.bytes()))
			}
		})
		kinds := ""
		for _, s := range r.Suggestions {
			kinds += s.Kind + " "
			if s.Kind == challenge && (s.Text != "challenge /ann/app/blame/* {\n\tover 60/1m\n}" || !isNearly(s.Requests, 3000)) {
				t.Errorf("%+v", s)
			}
		}
		got = append(got, kinds)
	}
	if want := got[0] + "challenge "; got[0] == "" || got[1] != want {
		t.Errorf("%q, want %q", got[1], want)
	}
}
