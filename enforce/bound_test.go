package enforce

import (
	"context"
	"net/http"
	"testing"
	"time"
)

// ask decides on a request that is filled in as far as it is unusual.
func (e *engineTest) ask(r Request) Decision {
	var d Decision
	if r.Client == "" {
		r.Client = "192.0.2.1"
	}
	r.Origin, r.Time = home, e.clock.now()
	e.Decide(context.Background(), &r, &d)
	return d
}

const (
	program = "SiteSweeper/2.0"
	stripe  = "Stripe/1.0 (+https://stripe.com/docs/webhooks)"
)

func TestTheGroupForAllBindsByMethodAndClass(t *testing.T) {
	const file = "User-agent: *\nDisallow: /private/\n\nUser-agent: GitHub-Hookshot\nDisallow: /own/\n\nUser-agent: Sweepo\nDisallow: /own/\n"
	all := Rules{HTTPClients: true, Programs: ProgramsOn, Strict: true}
	for _, tt := range []struct {
		name       string
		rules      Rules
		method, ua string
		target     string
		want       Action
	}{
		{"a user-triggered fetcher's GET", Rules{}, "", chatgpt, "/private/x", Deny},
		{"its HEAD", Rules{}, http.MethodHead, chatgpt, "/private/x", Deny},
		{"not its POST", Rules{}, http.MethodPost, chatgpt, "/private/x", Pass},
		{"not even with strict", all, http.MethodPost, chatgpt, "/private/x", Pass},
		{"a crawler's POST", Rules{}, http.MethodPost, gptbot, "/private/x", Deny},
		{"no webhook", all, http.MethodPost, stripe, "/private/x", Pass},
		{"nor its GET", all, http.MethodGet, stripe, "/private/x", Pass},
		{"a webhook's own group binds it", Rules{}, http.MethodPost, "GitHub-Hookshot/044aadd", "/own/x", Deny},
		{"and no other", all, http.MethodPost, "GitHub-Hookshot/044aadd", "/private/x", Pass},
		{"no program", Rules{}, "", program, "/private/x", Pass},
		{"nor with http_clients on", Rules{HTTPClients: true}, "", program, "/private/x", Pass},
		{"unless switched on", Rules{Programs: ProgramsOn}, "", program, "/private/x", Deny},
		{"for every method then", Rules{Programs: ProgramsOn}, http.MethodPost, program, "/private/x", Deny},
		{"no library then", Rules{Programs: ProgramsOn}, "", curl, "/private/x", Pass},
		{"a program's own group binds it always", Rules{}, http.MethodPost, "Sweepo/1.0", "/own/x", Deny},
	} {
		if d := newEngineTest(t, file, tt.rules).ask(Request{Method: tt.method, UserAgents: []string{tt.ua}, Target: tt.target}); d.Action != tt.want {
			t.Errorf("%s: %v, %v; want %v", tt.name, d.Action, d.Reason, tt.want)
		}
	}
}

func TestProgramsThatReadTheRobotsTxt(t *testing.T) {
	const file = "User-agent: *\nDisallow: /private/\nCrawl-delay: 1000\n"
	e := newEngineTest(t, file, Rules{Programs: ProgramsSeen})
	read := func(ua, client, method string) {
		e.ask(Request{Method: method, UserAgents: []string{ua}, Client: client, Target: "/robots.txt"})
	}
	want := func(what string, want Action, r Request) {
		t.Helper()
		if r.Target == "" {
			r.Target = "/private/x"
		}
		if r.UserAgents == nil {
			r.UserAgents = []string{program}
		}
		if d := e.ask(r); d.Action != want {
			t.Errorf("%s: %v, %v; want %v", what, d.Action, d.Reason, want)
		}
	}
	want("before it read", Pass, Request{})
	read(program, "", http.MethodPost)
	want("a POST of /robots.txt reads nothing", Pass, Request{})
	read(chrome, "", "")
	want("another client at the same address", Pass, Request{})
	read(program, "", "")
	want("after it read", Deny, Request{})
	want("in another version", Deny, Request{UserAgents: []string{"sitesweeper/3.1"}})
	want("HEAD", Deny, Request{Method: http.MethodHead})
	want("POST", Pass, Request{Method: http.MethodPost})
	want("with Authorization", Pass, Request{Authorized: true})
	want("from another address", Pass, Request{Client: "192.0.2.2"})
	want("another program", Pass, Request{UserAgents: []string{"SiteSweeperTwo/2.0"}})
	want("a browser", Pass, Request{UserAgents: []string{chrome}})
	for range 3 {
		want("the pace does not bind it", Pass, Request{Target: "/"})
	}
	e.clock.advance(23 * time.Hour)
	want("23 hours later", Deny, Request{})
	e.clock.advance(2 * time.Hour)
	want("25 hours later", Pass, Request{})

	read(program, "2001:db8::1", "")
	want("another address of the same /64", Deny, Request{Client: "2001:db8::2"})
	want("an address of another /64", Pass, Request{Client: "2001:db8:0:1::1"})

	for i := range 4 * smallRecent { // more than is remembered
		read("Sweeper"+string(rune('a'+i%26))+"x"+string(rune('a'+i/26%26))+string(rune('a'+i/676))+"/1", "", "")
	}
	want("who is forgotten is bound no longer", Pass, Request{Client: "2001:db8::2"})
}

func TestSoftwareThatAnyoneRunsIsCountedPerAddress(t *testing.T) {
	const file = "User-agent: *\nCrawl-delay: 10\n"
	for ua, perAddress := range map[string]bool{
		"Mozilla/5.0 (compatible; Miniflux/2.1; +https://miniflux.app)": true,
		"FreshRSS/1.24 (Linux; https://freshrss.org)":                   true,
		"http.rb/5.1.1 (Mastodon/4.2.0; +https://social.example/)":      true,
		wget:                                  true,
		"Scrapy/2.11.1 (+https://scrapy.org)": true,
		bingbot:                               false,
		newbot:                                false,
		"Mozilla/5.0 (compatible; UnknownFetchBot/1.0; +https://unknown.example/bot)": false,
	} {
		e := newEngineTest(t, file, Rules{})
		for i, client := range []string{"192.0.2.1", "192.0.2.2", "2001:db8::1"} {
			want := Pass
			if i > 0 && !perAddress {
				want = Throttle
			}
			if d := e.ask(Request{UserAgents: []string{ua}, Client: client, Target: "/"}); d.Action != want {
				t.Errorf("%s from %s: %v, %v; want %v", ua, client, d.Action, d.Reason, want)
			}
		}
		if d := e.ask(Request{UserAgents: []string{ua}, Client: "192.0.2.1", Target: "/"}); d.Action != Throttle {
			t.Errorf("%s a second time from one address: %v, %v", ua, d.Action, d.Reason)
		}
	}
	e := newEngineTest(t, file, Rules{HTTPClients: true, Programs: ProgramsOn})
	for range 5 {
		if d := e.ask(Request{Method: http.MethodPost, UserAgents: []string{stripe}, Target: "/hook"}); d.Action != Pass {
			t.Errorf("a webhook is throttled: %v", d.Reason)
		}
	}
}

// While no policy is known, nothing waits and nothing is refused that the
// group for all would not bind.
func TestPendingRefusesNoWebhook(t *testing.T) {
	p := mustCompile(t, Rules{}).empty(Pending)
	for ua, tt := range map[string]struct {
		method string
		want   Action
	}{
		stripe:  {http.MethodPost, Pass},
		chatgpt: {http.MethodPost, Pass},
		program: {http.MethodGet, Pass},
		gptbot:  {http.MethodPost, Throttle},
	} {
		var d Decision
		p.Check(&Request{Method: tt.method, UserAgents: []string{ua}, Target: "/"}, &d)
		if d.Action != tt.want {
			t.Errorf("%s %s: %v, %v; want %v", tt.method, ua, d.Action, d.Reason, tt.want)
		}
	}
}

func mustCompile(t *testing.T, r Rules) *compiledRules {
	t.Helper()
	c, err := r.compile()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestProgramsNames(t *testing.T) {
	for p := ProgramsOff; p <= ProgramsOn; p++ {
		if got, err := ParsePrograms(p.String()); got != p || err != nil {
			t.Errorf("ParsePrograms(%q) = %v, %v", p, got, err)
		}
	}
	if _, err := ParsePrograms("maybe"); err == nil {
		t.Error("an unknown value is accepted")
	}
}
