package audit

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/suspect"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

const suspectsRobots = "User-agent: *\nDisallow: /archive/\nDisallow: /trap/\n"

// suspectsChrome is a browser that always sends Sec-Fetch-* fields over HTTPS.
const suspectsChrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36"

// Fields of requests in the form of Caddy's log.
const (
	fetchDocument = `,"Sec-Fetch-Site":["same-origin"],"Sec-Fetch-Mode":["navigate"],"Sec-Fetch-Dest":["document"],"Sec-Fetch-User":["?1"]`
	fetchStyle    = `,"Sec-Fetch-Site":["same-origin"],"Sec-Fetch-Mode":["no-cors"],"Sec-Fetch-Dest":["style"]`
	hiddenCookie  = `,"Cookie":["REDACTED"]`
)

// caddyText is a Caddy log that a test writes.
type caddyText struct {
	strings.Builder
	at time.Time
}

func newCaddyText() *caddyText {
	return &caddyText{at: time.Date(2026, 11, 7, 12, 0, 0, 0, time.UTC)}
}

// add writes a request that is later than the one before by after. fields are further
// header fields, more are further members of the request.
func (l *caddyText) add(after time.Duration, client, target, fields, more string) {
	l.at = l.at.Add(after)
	fmt.Fprintf(l, `{"level":"info","ts":%.3f,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":%q,"remote_port":"40000","client_ip":%q,"proto":"HTTP/2.0","method":"GET",`+
		`"host":"example.com","uri":%q,"headers":{"User-Agent":[%q]%s}%s},"duration":0.002,"size":10,"status":200}`+"\n",
		float64(l.at.UnixMilli())/1000, client, client, target, suspectsChrome, fields, more)
}

// overTLS is the member of a request over TLS.
const overTLS = `,"tls":{"resumed":false,"version":772,"proto":"h2","server_name":"example.com"}`

// people writes sessions of people. They raise no signal.
func (l *caddyText) people() {
	for person := range 15 {
		client := fmt.Sprintf("198.51.100.%d", person+1)
		for page := range 8 {
			l.add(5*time.Second, client, fmt.Sprintf("/page/%d", page), fetchDocument, overTLS)
			l.add(100*time.Millisecond, client, "/style.css", fetchStyle, overTLS)
		}
		l.add(5*time.Second, client, "/robots.txt", fetchDocument, overTLS)
		l.add(5*time.Second, client, "/archive/old", fetchDocument, overTLS)
	}
}

// script writes the requests of a script that reads robots.txt and then pages, fast.
func (l *caddyText) script(client, fields, more string) {
	l.add(time.Second, client, "/robots.txt", fields, more)
	for page := range 40 {
		l.add(100*time.Millisecond, client, fmt.Sprintf("/page/%d", page), fields, more)
	}
	for page := range 5 {
		l.add(100*time.Millisecond, client, fmt.Sprintf("/archive/%d", page), fields, more)
	}
}

func (l *caddyText) file() logfile.File {
	text := l.String()
	return logfile.File{Name: "access.log", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

// suspectSite returns a site that looks for suspects.
func suspectSite(bind bool) []Site {
	sites := oneSite(suspectsRobots)
	sites[0].Suspects = &SuspectRules{Traps: []suspect.Trap{"/trap/"}, Bind: bind}
	return sites
}

// signalOf returns the counts of a signal, by its name.
func signalOf(t *testing.T, r *Report, name string) SuspectSignal {
	t.Helper()
	for _, s := range r.Suspects.Signals {
		if s.Name == name {
			return s
		}
	}
	t.Errorf("no signal %s in %+v", name, r.Suspects.Signals)
	return SuspectSignal{}
}

// A script with a browser's User-Agent becomes a suspect at its 20th document. People do
// not become suspects.
func TestSuspects(t *testing.T) {
	l := newCaddyText()
	l.people()
	l.script("192.0.2.7", "", overTLS)
	people := int64(15*18 + 46)
	for _, bind := range []bool{false, true} {
		r := mustRun(t, Options{Files: []logfile.File{l.file()}, Sites: suspectSite(bind)})
		s := r.Suspects
		if s == nil || !s.Known || s.Looked != people || s.Unknown != 0 || s.Clients != 1 || s.Found != 1 || s.Bound != bind || r.People != people || r.Robots != 0 {
			t.Fatalf("bind %v: %+v, %d of people", bind, s, r.People)
		}
		for _, want := range []SuspectSignal{{"robots_txt", true, 1, 1}, {"documents", false, 2, 1}, {"pace", false, 1, 0}} {
			if got := signalOf(t, r, want.Name); got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		}
		w, refused, untouched := r.WouldHave, int64(0), people
		if bind {
			refused, untouched = 5, people-5
		}
		if s.Refused != refused || w.Browsers != refused || w.Refused != 0 || w.Denied != 0 {
			t.Errorf("bind %v: %d refused, would have %+v", bind, s.Refused, w)
		}
		text := strings.Join(r.Summary, "\n")
		if !strings.Contains(text, fmt.Sprintf("%d requests with browsers' User-Agents would not be affected.", untouched)) ||
			!strings.Contains(text, "User-Agents: 1") || strings.Contains(text, "names a word") {
			t.Errorf("bind %v: %s", bind, text)
		}
		if s.Requests != 26 || warned(r, "no_fields") || warned(r, "no_suspects") || warned(r, "no_fetch_fields") {
			t.Errorf("%d requests of suspects, warnings %v", s.Requests, r.Warnings)
		}
	}
	if r := mustRun(t, Options{Files: []logfile.File{l.file()}, Sites: oneSite(suspectsRobots)}); r.Suspects != nil {
		t.Errorf("without the setting: %+v", r.Suspects)
	}
}

// A client does not become a suspect by requests that the handler does not check.
func TestRequestsThatAreNotCheckedForSuspects(t *testing.T) {
	behindProxy := strings.NewReplacer(`"client_ip":"192.0.2.7"`, `"client_ip":"203.0.113.7"`)
	for _, c := range []struct {
		name, client, fields, more string
		change                     *strings.Replacer
		suspects                   int64
	}{
		{name: "a script", client: "192.0.2.7", more: overTLS, suspects: 1},
		{name: "without TLS", client: "192.0.2.7"},
		{name: "with a Cookie", client: "192.0.2.7", fields: hiddenCookie, more: overTLS},
		{name: "with a Cookie that a filter emptied", client: "192.0.2.7", fields: `,"Cookie":[]`, more: overTLS},
		{name: "with Authorization", client: "192.0.2.7", fields: `,"Authorization":["REDACTED"]`, more: overTLS},
		{name: "from another site", client: "192.0.2.7", fields: `,"Sec-Fetch-Site":["cross-site"],"Sec-Fetch-Mode":["navigate"],"Sec-Fetch-Dest":["document"]`, more: overTLS},
		{name: "with a prefetch", client: "192.0.2.7", fields: `,"Sec-Purpose":["prefetch"]`, more: overTLS},
		{name: "with a masked address", client: "192.0.2.0", more: overTLS},
		{name: "with a hashed address", client: "d3b07384", more: overTLS},
		{name: "HTTPS to a proxy", client: "192.0.2.7", fields: `,"X-Forwarded-For":["203.0.113.7"],"X-Forwarded-Proto":["https"]`, change: behindProxy, suspects: 1},
		{name: "HTTP to a proxy", client: "192.0.2.7", fields: `,"X-Forwarded-For":["203.0.113.7"],"X-Forwarded-Proto":["http"]`, more: overTLS, change: behindProxy},
		{name: "behind several proxies", client: "192.0.2.7", fields: `,"X-Forwarded-For":["203.0.113.7, 203.0.113.8"],"X-Forwarded-Proto":["https"]`, change: behindProxy},
	} {
		t.Run(c.name, func(t *testing.T) {
			people, robot := newCaddyText(), newCaddyText()
			people.people()
			robot.at = people.at
			robot.script(c.client, c.fields, c.more)
			text := robot.String()
			if c.change != nil {
				text = c.change.Replace(text)
			}
			people.WriteString(text)
			r := mustRun(t, Options{Files: []logfile.File{people.file()}, Sites: suspectSite(true)})
			if s := r.Suspects; !s.Known || s.Clients != c.suspects {
				t.Errorf("%+v", s)
			}
		})
	}
}

// Each URL below the path of a trap counts as one that was not minted.
func TestTrapsInALog(t *testing.T) {
	l := newCaddyText()
	l.people()
	l.add(time.Second, "192.0.2.7", "/robots.txt", "", overTLS)
	l.add(time.Second, "192.0.2.7", "/trap/archive.html", "", overTLS)
	r := mustRun(t, Options{Files: []logfile.File{l.file()}, Sites: suspectSite(false)})
	if s := signalOf(t, r, "trap_static"); s.Raised != 1 || s.Found != 1 || r.Suspects.Clients != 1 {
		t.Errorf("%+v", r.Suspects)
	}
	open := suspectSite(false)
	open[0].Robots = oneSite("User-agent: *\nDisallow: /archive/\n")[0].Robots
	if r := mustRun(t, Options{Files: []logfile.File{l.file()}, Sites: open}); r.Suspects.Clients != 0 {
		t.Errorf("a trap that robots.txt does not disallow: %+v", r.Suspects)
	}
}

// A warning says if the log does not have the fields that suspects are found by.
func TestLogsWithoutFieldsForSuspects(t *testing.T) {
	script := newCaddyText()
	script.script("192.0.2.7", "", overTLS)
	plain := newCaddyText()
	plain.script("192.0.2.7", "", "")
	for _, c := range []struct {
		file logfile.File
		code string
	}{
		{onDisk("combined.log"), "no_fields"},
		{script.file(), "no_fetch_fields"},
		{plain.file(), "no_suspects"},
	} {
		r := mustRun(t, Options{Files: []logfile.File{c.file}, Sites: suspectSite(true)})
		if s := r.Suspects; !warned(r, c.code) || s == nil || s.Known || s.Clients != 0 || s.Refused != 0 || len(s.Signals) != 0 {
			t.Errorf("%s: %+v, %v", c.code, s, r.Warnings)
		}
		r = mustRun(t, Options{Files: []logfile.File{c.file}, Sites: oneSite(suspectsRobots)})
		if warned(r, c.code) {
			t.Errorf("%s: %v", c.code, r.Warnings)
		}
	}
}
