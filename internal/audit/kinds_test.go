package audit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

// blamedFile returns the path of a page about the nth file of a repository.
func blamedFile(n int) string {
	return fmt.Sprintf("/ann/app%d/blame/%s/file%d.%s", n%3, strings.Fields("main src src/js docs")[n%4], n, strings.Fields("go js go md css go yml sh svg json c go go")[n%13])
}

// A page is one whatever its extension is, and an embedded file one that pages embed: all
// pages of a robot count, and none of them is its file.
func TestPagesWithExtensions(t *testing.T) {
	page := func(target string) func(int) string {
		return func(n int) string { return strings.ReplaceAll(target, "#", fmt.Sprint(n)) }
	}
	some := func(n int, some, others func(int) string) func(int) string {
		return func(i int) string {
			if i == n {
				return some(i)
			}
			return others(i)
		}
	}
	for name, tt := range map[string]struct {
		target func(int) string
		least  int64 // of 2,000
	}{
		"files of all kinds":     {blamedFile, 1980},
		"one script":             {some(1500, page("/ann/app/blame/main.js"), page("/ann/app/blame/#.go")), 2000},
		"one picture in a wiki":  {some(1500, page("/wiki/File:X.jpg"), page("/wiki/Title_#")), 2000},
		"archives":               {page("/ann/app/archive/v#.tar.gz"), 2000},
		"documents":              {page("/papers/#.pdf"), 2000},
		"images, which are none": {page("/images/#.jpg"), 0},
	} {
		one, many := newLonelyLog(), newLonelyLog()
		for i := range 2000 {
			one.add(i, fmt.Sprintf("198.51.100.%d", i%50), tt.target(i), "-", chrome141)
			many.add(i, fmt.Sprintf("198.18.%d.%d", i/250, i%250), tt.target(i), "-", strings.Replace(chrome141, "141", fmt.Sprint(100+i%43), 1))
		}
		r := one.report(t, nil)
		if found := tt.least > 0; found != (len(r.Disguises) == 1) || found && (r.Disguises[0].Requests < tt.least || !strings.Contains(findingOf(r, "disguised").Text, chrome141)) {
			t.Errorf("%s, one User-Agent: %+v", name, r.Disguises)
		}
		lone := int64(0)
		r = many.report(t, nil)
		for _, p := range r.Strangers.Paths {
			lone += p.Lone
		}
		if lone < tt.least || lone > tt.least+40 || r.Costs.Lone.Requests != lone {
			t.Errorf("%s, many addresses: %d pages, want %d; %+v", name, lone, tt.least, r.Costs)
		}
	}
}

// The Content-Type of an answer has precedence over everything that the path says.
func TestContentType(t *testing.T) {
	for media, want := range map[string]int64{"text/html; charset=utf-8": 300, "application/gzip": 300, "image/png": 0, "application/json": 0, "": 0} {
		var log strings.Builder
		log.WriteString(newLonelyLog().String())
		l := newCaddyText()
		for i := range 300 {
			l.add(0, fmt.Sprintf("198.18.%d.%d", i/250, i%250), fmt.Sprintf("/x/%d.png", i), "", "")
		}
		text := strings.ReplaceAll(l.String(), `"status":200`, fmt.Sprintf(`"status":200,"resp_headers":{"Server":["a\"Content-Type\":[\"b"],"Content-Type":[%q]}`, media))
		r := mustRun(t, Options{Files: []logfile.File{memory("people", []byte(log.String())), memory("caddy", []byte(text))}})
		if p := pathOf(r, "/x/*"); p.Lone != want {
			t.Errorf("%q: %+v", media, r.Strangers)
		}
	}
}

// What harms comes first, in the order of the harm; nobody is blamed for a few requests.
func TestOrderOfFindings(t *testing.T) {
	quiet := requestsOf(47, "git/2.43.0", "/ann/app.git/info/refs", 9, 0, 30)
	for _, tt := range []struct{ log, want string }{
		{quiet, "search_refused worst_half_hour never_applied"},
		{quiet + requestsOf(5, googlebot, "/private/a", 10, 0, 5), "search_refused worst_half_hour never_applied"},
		{quiet + requestsOf(1200, bytespider, "/", 10, 0, 30), "worst_half_hour costs search_refused never_applied"},
		{requestsOf(12, "ShopSync-Bot/2.1 (ops@shop.example)", "/private/a", 9, 0, 30), "own_clients_refused search_refused worst_half_hour never_applied"},
		{requestsOf(5, googlebot, "/private/a", 8, 0, 5) + requestsOf(12, "ShopSync-Bot/2.1 (ops@shop.example)", "/private/a", 9, 0, 30) + requestsOf(1200, bytespider, "/", 10, 0, 30),
			"search_refused own_clients_refused worst_half_hour costs never_applied"},
	} {
		r := mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(tt.log))}, Sites: oneSite("User-agent: *\nDisallow: /private/\n")})
		got := ""
		for _, f := range r.Findings {
			got += " " + f.Code
			if strings.Contains(f.Text, "git") {
				t.Errorf("git is blamed: %s", f.Text)
			}
		}
		if got != " "+tt.want {
			t.Errorf("%s, want %s: %+v", got, tt.want, r.Findings)
		}
	}
}
