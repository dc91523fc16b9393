package enforce

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// decideOn decides on r, with defaults for the fields that are not set.
func (e *engineTest) decideOn(r judge.Request) judge.Decision {
	var d judge.Decision
	if r.Client == "" {
		r.Client = "192.0.2.1"
	}
	r.Origin, r.Time = fake.Home, e.clock.Now()
	e.Decide(context.Background(), &r, &d)
	return d
}

func TestStarGroupByMethodAndClass(t *testing.T) {
	const file = "User-agent: *\nDisallow: /private/\n\nUser-agent: GitHub-Hookshot\nDisallow: /own/\n\nUser-agent: Sweepo\nDisallow: /own/\n"
	all := judge.Settings{HTTPClients: true, Programs: judge.ProgramsOn, Strict: true}
	for _, tt := range []struct {
		name       string
		rules      judge.Settings
		method, ua string
		target     string
		want       judge.Action
	}{
		{"GET of a user-triggered fetcher", judge.Settings{}, "", fake.Chatgpt, "/private/x", judge.Deny},
		{"HEAD of a user-triggered fetcher", judge.Settings{}, http.MethodHead, fake.Chatgpt, "/private/x", judge.Deny},
		{"POST of a user-triggered fetcher", judge.Settings{}, http.MethodPost, fake.Chatgpt, "/private/x", judge.Pass},
		{"POST of a user-triggered fetcher, strict", all, http.MethodPost, fake.Chatgpt, "/private/x", judge.Pass},
		{"POST of a crawler", judge.Settings{}, http.MethodPost, fake.Gptbot, "/private/x", judge.Deny},
		{"POST of a webhook", all, http.MethodPost, fake.Stripe, "/private/x", judge.Pass},
		{"GET of a webhook", all, http.MethodGet, fake.Stripe, "/private/x", judge.Pass},
		{"webhook with its own group, path of that group", judge.Settings{}, http.MethodPost, "GitHub-Hookshot/044aadd", "/own/x", judge.Deny},
		{"webhook with its own group, path of the group for *", all, http.MethodPost, "GitHub-Hookshot/044aadd", "/private/x", judge.Pass},
		{"program", judge.Settings{}, "", fake.Program, "/private/x", judge.Pass},
		{"program, with HTTPClients", judge.Settings{HTTPClients: true}, "", fake.Program, "/private/x", judge.Pass},
		{"program, with ProgramsOn", judge.Settings{Programs: judge.ProgramsOn}, "", fake.Program, "/private/x", judge.Deny},
		{"POST of a program, with ProgramsOn", judge.Settings{Programs: judge.ProgramsOn}, http.MethodPost, fake.Program, "/private/x", judge.Deny},
		{"library, with ProgramsOn", judge.Settings{Programs: judge.ProgramsOn}, "", fake.Curl, "/private/x", judge.Pass},
		{"POST of a program with its own group", judge.Settings{}, http.MethodPost, "Sweepo/1.0", "/own/x", judge.Deny},
	} {
		if d := newEngineTest(t, file, tt.rules).decideOn(judge.Request{Method: tt.method, UserAgents: []string{tt.ua}, Target: tt.target}); d.Action != tt.want {
			t.Errorf("%s: %v, %v; want %v", tt.name, d.Action, d.Reason, tt.want)
		}
	}
}

func TestProgramsSeen(t *testing.T) {
	const file = "User-agent: *\nDisallow: /private/\nCrawl-delay: 1000\n"
	e := newEngineTest(t, file, judge.Settings{Programs: judge.ProgramsSeen})
	read := func(ua, client, method string) {
		e.decideOn(judge.Request{Method: method, UserAgents: []string{ua}, Client: client, Target: "/robots.txt"})
	}
	want := func(what string, want judge.Action, r judge.Request) {
		t.Helper()
		if r.Target == "" {
			r.Target = "/private/x"
		}
		if r.UserAgents == nil {
			r.UserAgents = []string{fake.Program}
		}
		if d := e.decideOn(r); d.Action != want {
			t.Errorf("%s: %v, %v; want %v", what, d.Action, d.Reason, want)
		}
	}
	want("before reading robots.txt", judge.Pass, judge.Request{})
	read(fake.Program, "", http.MethodPost)
	want("after a POST of /robots.txt", judge.Pass, judge.Request{})
	read(fake.Chrome, "", "")
	want("after another client with the same address has read it", judge.Pass, judge.Request{})
	read(fake.Program, "", "")
	want("after reading robots.txt", judge.Deny, judge.Request{})
	want("another version of the program", judge.Deny, judge.Request{UserAgents: []string{"sitesweeper/3.1"}})
	want("HEAD", judge.Deny, judge.Request{Method: http.MethodHead})
	want("POST", judge.Pass, judge.Request{Method: http.MethodPost})
	want("with Authorization", judge.Pass, judge.Request{Authorized: true})
	want("from another address", judge.Pass, judge.Request{Client: "192.0.2.2"})
	want("another program", judge.Pass, judge.Request{UserAgents: []string{"SiteSweeperTwo/2.0"}})
	want("a browser", judge.Pass, judge.Request{UserAgents: []string{fake.Chrome}})
	for range 3 {
		want("Crawl-delay does not apply", judge.Pass, judge.Request{Target: "/"})
	}
	e.clock.Advance(23 * time.Hour)
	want("23 hours later", judge.Deny, judge.Request{})
	e.clock.Advance(2 * time.Hour)
	want("25 hours later", judge.Pass, judge.Request{})

	read(fake.Program, "2001:db8::1", "")
	want("another address of the same /64", judge.Deny, judge.Request{Client: "2001:db8::2"})
	want("an address of another /64", judge.Pass, judge.Request{Client: "2001:db8:0:1::1"})

	for i := range 4 * smallMemory { // more than the engine remembers
		read("Sweeper"+string(rune('a'+i%26))+"x"+string(rune('a'+i/26%26))+string(rune('a'+i/676))+"/1", "", "")
	}
	want("a program that was forgotten", judge.Pass, judge.Request{Client: "2001:db8::2"})
}

func TestParsePrograms(t *testing.T) {
	for p := judge.ProgramsOff; p <= judge.ProgramsOn; p++ {
		if got, err := judge.ParsePrograms(p.String()); got != p || err != nil {
			t.Errorf("ParsePrograms(%q) = %v, %v", p, got, err)
		}
	}
	if _, err := judge.ParsePrograms("maybe"); err == nil {
		t.Error("no error for an unknown name")
	}
}
