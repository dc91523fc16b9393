package enforce

import (
	"context"
	"net/http"
	"testing"
	"time"
)

// decideOn decides on r, with defaults for the fields that are not set.
func (e *engineTest) decideOn(r Request) Decision {
	var d Decision
	if r.Client == "" {
		r.Client = "192.0.2.1"
	}
	r.Origin, r.Time = home, e.clock.now()
	e.Decide(context.Background(), &r, &d)
	return d
}

func TestStarGroupByMethodAndClass(t *testing.T) {
	const file = "User-agent: *\nDisallow: /private/\n\nUser-agent: GitHub-Hookshot\nDisallow: /own/\n\nUser-agent: Sweepo\nDisallow: /own/\n"
	all := Settings{HTTPClients: true, Programs: ProgramsOn, Strict: true}
	for _, tt := range []struct {
		name       string
		rules      Settings
		method, ua string
		target     string
		want       Action
	}{
		{"GET of a user-triggered fetcher", Settings{}, "", chatgpt, "/private/x", Deny},
		{"HEAD of a user-triggered fetcher", Settings{}, http.MethodHead, chatgpt, "/private/x", Deny},
		{"POST of a user-triggered fetcher", Settings{}, http.MethodPost, chatgpt, "/private/x", Pass},
		{"POST of a user-triggered fetcher, strict", all, http.MethodPost, chatgpt, "/private/x", Pass},
		{"POST of a crawler", Settings{}, http.MethodPost, gptbot, "/private/x", Deny},
		{"POST of a webhook", all, http.MethodPost, stripe, "/private/x", Pass},
		{"GET of a webhook", all, http.MethodGet, stripe, "/private/x", Pass},
		{"webhook with its own group, path of that group", Settings{}, http.MethodPost, "GitHub-Hookshot/044aadd", "/own/x", Deny},
		{"webhook with its own group, path of the group for *", all, http.MethodPost, "GitHub-Hookshot/044aadd", "/private/x", Pass},
		{"program", Settings{}, "", program, "/private/x", Pass},
		{"program, with HTTPClients", Settings{HTTPClients: true}, "", program, "/private/x", Pass},
		{"program, with ProgramsOn", Settings{Programs: ProgramsOn}, "", program, "/private/x", Deny},
		{"POST of a program, with ProgramsOn", Settings{Programs: ProgramsOn}, http.MethodPost, program, "/private/x", Deny},
		{"library, with ProgramsOn", Settings{Programs: ProgramsOn}, "", curl, "/private/x", Pass},
		{"POST of a program with its own group", Settings{}, http.MethodPost, "Sweepo/1.0", "/own/x", Deny},
	} {
		if d := newEngineTest(t, file, tt.rules).decideOn(Request{Method: tt.method, UserAgents: []string{tt.ua}, Target: tt.target}); d.Action != tt.want {
			t.Errorf("%s: %v, %v; want %v", tt.name, d.Action, d.Reason, tt.want)
		}
	}
}

func TestProgramsSeen(t *testing.T) {
	const file = "User-agent: *\nDisallow: /private/\nCrawl-delay: 1000\n"
	e := newEngineTest(t, file, Settings{Programs: ProgramsSeen})
	read := func(ua, client, method string) {
		e.decideOn(Request{Method: method, UserAgents: []string{ua}, Client: client, Target: "/robots.txt"})
	}
	want := func(what string, want Action, r Request) {
		t.Helper()
		if r.Target == "" {
			r.Target = "/private/x"
		}
		if r.UserAgents == nil {
			r.UserAgents = []string{program}
		}
		if d := e.decideOn(r); d.Action != want {
			t.Errorf("%s: %v, %v; want %v", what, d.Action, d.Reason, want)
		}
	}
	want("before reading robots.txt", Pass, Request{})
	read(program, "", http.MethodPost)
	want("after a POST of /robots.txt", Pass, Request{})
	read(chrome, "", "")
	want("after another client with the same address has read it", Pass, Request{})
	read(program, "", "")
	want("after reading robots.txt", Deny, Request{})
	want("another version of the program", Deny, Request{UserAgents: []string{"sitesweeper/3.1"}})
	want("HEAD", Deny, Request{Method: http.MethodHead})
	want("POST", Pass, Request{Method: http.MethodPost})
	want("with Authorization", Pass, Request{Authorized: true})
	want("from another address", Pass, Request{Client: "192.0.2.2"})
	want("another program", Pass, Request{UserAgents: []string{"SiteSweeperTwo/2.0"}})
	want("a browser", Pass, Request{UserAgents: []string{chrome}})
	for range 3 {
		want("Crawl-delay does not apply", Pass, Request{Target: "/"})
	}
	e.clock.advance(23 * time.Hour)
	want("23 hours later", Deny, Request{})
	e.clock.advance(2 * time.Hour)
	want("25 hours later", Pass, Request{})

	read(program, "2001:db8::1", "")
	want("another address of the same /64", Deny, Request{Client: "2001:db8::2"})
	want("an address of another /64", Pass, Request{Client: "2001:db8:0:1::1"})

	for i := range 4 * smallMemory { // more than the engine remembers
		read("Sweeper"+string(rune('a'+i%26))+"x"+string(rune('a'+i/26%26))+string(rune('a'+i/676))+"/1", "", "")
	}
	want("a program that was forgotten", Pass, Request{Client: "2001:db8::2"})
}

func TestParsePrograms(t *testing.T) {
	for p := ProgramsOff; p <= ProgramsOn; p++ {
		if got, err := ParsePrograms(p.String()); got != p || err != nil {
			t.Errorf("ParsePrograms(%q) = %v, %v", p, got, err)
		}
	}
	if _, err := ParsePrograms("maybe"); err == nil {
		t.Error("no error for an unknown name")
	}
}
