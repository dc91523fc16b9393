package audit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

// The Content-Type of an answer has precedence over everything that the path says, also where a program
// that is not Caddy wrote the JSON again, with blanks.
func TestContentType(t *testing.T) {
	for media, want := range map[string]int64{"text/html; charset=utf-8": 300, "application/gzip": 0, "image/png": 0, "application/json": 0, "": 0} {
		var log strings.Builder
		log.WriteString(newLonelyLog().String())
		l := newCaddyText()
		for i := range 300 {
			l.add(0, fmt.Sprintf("198.18.%d.%d", i/250, i%250), fmt.Sprintf("/x/%d.png", i), "", "")
		}
		text := strings.ReplaceAll(l.String(), `"status":200`, fmt.Sprintf(`"status":200,"resp_headers":{"Server":["a\"Content-Type\":[\"b"],"Content-Type": [%q]}`, media))
		r := mustRun(t, Options{Files: []logfile.File{memory("people", []byte(log.String())), memory("caddy", []byte(text))}})
		if p := pathOf(r, "/x/*"); p.Lone.Requests != want {
			t.Errorf("%q: %+v", media, r.Strangers)
		}
	}
}

// What harms comes first, in the order of the harm; nobody is blamed for a few requests.
func TestOrderOfFindings(t *testing.T) {
	quiet := requestsOf(47, "git/2.43.0", "/ann/app.git/info/refs", 9, 0, 30)
	for _, tt := range []struct{ log, want string }{
		{quiet, "search_refused worst_half_hour"},
		{quiet + requestsOf(5, googlebot, "/private/a", 10, 0, 5), "search_refused worst_half_hour"},
		{quiet + requestsOf(1200, bytespider, "/", 10, 0, 30), "worst_half_hour costs search_refused"},
		{requestsOf(12, "ShopSync-Bot/2.1 (ops@shop.example)", "/private/a", 9, 0, 30), "own_clients_refused search_refused worst_half_hour"},
		{requestsOf(5, googlebot, "/private/a", 8, 0, 5) + requestsOf(12, "ShopSync-Bot/2.1 (ops@shop.example)", "/private/a", 9, 0, 30) + requestsOf(1200, bytespider, "/", 10, 0, 30),
			"search_refused own_clients_refused worst_half_hour costs"},
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
