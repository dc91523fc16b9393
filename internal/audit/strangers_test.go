package audit

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/logfile"
	"github.com/caddy-robots/caddy-robots/internal/managed"
)

// lonelyLog is a combined log of a site whose visitors read three pages each and fetch
// what they embed.
type lonelyLog struct{ strings.Builder }

func newLonelyLog() *lonelyLog {
	l := new(lonelyLog)
	for i := range 60 {
		client, agent := fmt.Sprintf("192.0.2.%d", i), strings.Replace(chrome141, "141", fmt.Sprint(200+i%20), 1)
		for range 5 {
			l.add(0, client, "/", "-", agent)
			l.add(0, client, "/style.css", "https://example.com/", agent)
		}
	}
	return l
}

func (l *lonelyLog) add(at int, client, target, referer, agent string) {
	fmt.Fprintf(l, "example.com %s - - [%s] \"GET %s HTTP/1.1\" 200 5 %q %q\n", client,
		time.Date(2026, 11, 7, 12, 0, at, 0, time.UTC).Format("02/Jan/2006:15:04:05 -0700"), target, referer, agent)
}

func (l *lonelyLog) report(t *testing.T, change func(*Options)) *Report {
	t.Helper()
	lines := strings.SplitAfter(l.String(), "\n")
	slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(timeOf(a), timeOf(b)) })
	o := Options{Files: []logfile.File{memory("log", []byte(strings.Join(lines, "")))}}
	if change != nil {
		change(&o)
	}
	return mustRun(t, o)
}

// pathOf returns the figures for a pattern.
func pathOf(r *Report, pattern string) StrangerPath {
	i := slices.IndexFunc(r.Strangers.Paths, func(p StrangerPath) bool { return p.Pattern == pattern })
	if i < 0 {
		return StrangerPath{}
	}
	return r.Strangers.Paths[i]
}

// Hosts that came before a stormed one do not hide its storm, however many they are.
func TestStrangersOfALateHost(t *testing.T) {
	people, l := newLonelyLog().String(), new(lonelyLog)
	for i := range 50 {
		l.WriteString(strings.ReplaceAll(people, "example.com 192", fmt.Sprintf("h%d.example 192", i)))
	}
	l.WriteString(people)
	for i := range 2000 {
		l.add(1000+i, fmt.Sprintf("2001:db8:0:%x::1", i), fmt.Sprintf("/blame/file%d.go", i), "-", chrome141)
	}
	r := l.report(t, nil)
	if got := pathOf(r, "/blame/*"); got.Host != "example.com" || got.Lone.Requests < 1000 || !got.IsLonely() || !strings.Contains(findingOf(r, "disguised").Text, "At least ") {
		t.Errorf("%+v", got)
	}
}

// A page is that of a lone address if the address requested nothing but pages, for 20
// seconds after it.
func TestStrangers(t *testing.T) {
	const agent = chrome141
	for name, tt := range map[string]struct {
		add  func(l *lonelyLog, i int, client string)
		lone int64 // of 200 pages
	}{
		"a page each":               {func(*lonelyLog, int, string) {}, 200},
		"a style at once":           {func(l *lonelyLog, i int, client string) { l.add(1000+i, client, "/style.css", "-", agent) }, 0},
		"a style after 19 seconds":  {func(l *lonelyLog, i int, client string) { l.add(1019+i, client, "/style.css", "-", agent) }, 0},
		"a style after 20 seconds":  {func(l *lonelyLog, i int, client string) { l.add(1020+i, client, "/style.css", "-", agent) }, 200},
		"data that a script loads":  {func(l *lonelyLog, i int, client string) { l.add(1000+i, client, "/data.json?x", "-", agent) }, 0},
		"a style, then the page":    {func(l *lonelyLog, i int, client string) { l.add(i, client, "/style.css", "-", agent) }, 0},
		"by others of the browsers": {func(l *lonelyLog, i int, client string) { l.add(1000+i, "198.51.100.7", "/style.css", "-", agent) }, 200},
	} {
		l := newLonelyLog()
		for i := range 200 {
			l.add(1000+i, fmt.Sprintf("2001:db8:0:%x::1", i), fmt.Sprintf("/blame/file%d.go", i), "-", agent)
			tt.add(l, i, fmt.Sprintf("2001:db8:0:%x::2", i)) // another address of the same network is the same client
		}
		r := l.report(t, nil)
		want := StrangerPath{"example.com", "/blame/*", cost.Sum{Requests: 200, Octets: 1000}, cost.Sum{Requests: tt.lone, Octets: 5 * tt.lone}, false}
		if tt.lone == 0 {
			want = StrangerPath{}
		}
		said := strings.HasPrefix(findingOf(r, "disguised").Text, "200 of 200 requests for /blame/* with browsers' User-Agents came from addresses that requested nothing else.")
		if got := pathOf(r, "/blame/*"); got != want || !r.Strangers.Known || said != (tt.lone > 0) || warned(r, "no_strangers") {
			t.Errorf("%s: %+v, want %+v; %+v", name, r.Strangers, want, r.Findings)
		}
	}
}

// timeOf returns the time of a line.
func timeOf(line string) string {
	_, rest, _ := strings.Cut(line, "[")
	at, _, _ := strings.Cut(rest, "]")
	return at
}

// storm adds lone addresses with a page each.
func (l *lonelyLog) storm(n int, target string) *lonelyLog {
	for i := range n {
		l.add(60+i/100, fmt.Sprintf("198.%d.%d.%d", 18+i/62500, i/250%250, i%250), fmt.Sprintf(target, i), "-", chrome141)
	}
	return l
}

// What can't be known is not said, and the report says why.
func TestStrangersAreNotKnown(t *testing.T) {
	bare := new(lonelyLog)
	bare.WriteString(strings.ReplaceAll(newLonelyLog().storm(500, "/blame/file%d.go").String(), "/style.css", "/about"))
	cached := newLonelyLog().storm(500, "/blame/file%d.go")
	for i := range 300 { // people whose browsers have all files of the site
		cached.add(2000+i, fmt.Sprintf("203.0.113.%d", i%50), fmt.Sprintf("/topic-%d", i), "https://example.com/", chrome141)
	}
	proxy := new(lonelyLog)
	for line := range strings.Lines(newLonelyLog().storm(200, "/blame/file%d.go").String()) {
		_, rest, _ := strings.Cut(line, " - - ")
		proxy.WriteString("example.com 192.0.2.1 - - " + rest)
	}
	coarse := new(lonelyLog)
	coarse.WriteString(regexp.MustCompile(`(:12:\d\d:)\d\d `).ReplaceAllString(newLonelyLog().storm(200, "/blame/file%d.go").String(), "$1: "))
	for _, tt := range []struct {
		log        *lonelyLog
		code, says string
	}{
		{bare, "no_strangers", "of 20 versions of browsers that read several pages, 0 fetched images"},
		{bare, "no_strangers", "Those of /blame/* cost most: 500 requests"},
		{cached, "no_strangers", "Those of /blame/* cost most: 500 requests"},
		{cached, "no_strangers", "of 200 pages to which a browser came from others of the site, 200 are those of addresses that fetched no images"},
		{coarse, "no_strangers", "not exact to a second"},
		{proxy, "few_addresses", "only 1 for"},
	} {
		r := tt.log.report(t, nil)
		said := slices.ContainsFunc(r.Warnings, func(w Warning) bool { return w.Code == tt.code && strings.Contains(w.Text, tt.says) })
		if r.Strangers.Known || len(r.Strangers.Paths) > 0 || !said {
			t.Errorf("%s: %+v, %+v", tt.code, r.Strangers, r.Warnings)
		}
	}
}

// The pages with browsers' User-Agents that cost most are named, whoever requests them.
func TestBrowsersThatCost(t *testing.T) {
	l := newLonelyLog()
	for i := range 900 {
		client := fmt.Sprintf("2001:db8:0:%x::1", i)
		l.add(1000+i, client, fmt.Sprintf("/search?q=%d", i), "-", chrome141)
		l.add(1001+i, client, "/style.css", "-", chrome141)
	}
	r := l.report(t, nil)
	if text := strings.Join(r.Summary, " "); !strings.Contains(text, "those of /search?q= cost most: 900 requests (38 % of all)") || r.Costs.Lone.Requests > 0 {
		t.Error(text)
	}
}

// Of many addresses, hardly any is forgotten.
func TestManyStrangers(t *testing.T) {
	r := newLonelyLog().storm(100_000, "/blame/file%d.go").report(t, nil)
	p := pathOf(r, "/blame/*")
	if p.Pages.Requests != 100_000 || p.Lone.Requests < 99_900 {
		t.Errorf("%+v", p)
	}
}

// A hidden path is not in the report.
func TestStrangersAtHiddenPaths(t *testing.T) {
	l := newLonelyLog().storm(200, "/secret/%d").storm(200, "/blame/x%d")
	r := l.report(t, func(o *Options) {
		o.Sites = oneSite("")
		o.Sites[0].Rules.Edit = (&managed.Policy{Hidden: []managed.Statement{{Paths: []string{"/secret/"}}}}).Additions
	})
	if text := fmt.Sprint(r.Strangers, r.Findings); strings.Contains(text, "secret") || !strings.Contains(text, "/blame/*") {
		t.Error(text)
	}
}
