package live

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// What is handled says so first, and needs no action. What is not has one.
func TestHandledFloods(t *testing.T) {
	const limit = "Limit how often each crawler comes, whatever its name: the line limit" + inStandard
	for _, tt := range []struct {
		name  string
		quiet bool // the usual rate is not known
		why   map[judge.Reason]int
		want  string // severity, message and first action
	}{
		{"denied", false, map[judge.Reason]int{judge.Disallowed: 200}, "note Handled: all of the requests of GPTBot to a.test are refused: 200 a minute; 1.0 are usual|"},
		{"throttled", false, map[judge.Reason]int{judge.CrawlDelay: 199, judge.Allowed: 1}, "note Handled: 99 % of the requests of GPTBot to a.test are refused: 200 a minute; 1.0 are usual|"},
		{"a part is refused", false, map[judge.Reason]int{judge.Disallowed: 170, judge.Allowed: 30}, "error GPTBot sends 200 requests a minute to a.test; 1.0 are usual|" + limit},
		{"the rest is a flood itself", false, map[judge.Reason]int{judge.Disallowed: 1200, judge.Allowed: 101}, "error GPTBot sends 1,301 requests a minute to a.test; 1.0 are usual|" + limit},
		{"nothing is refused", false, map[judge.Reason]int{judge.Allowed: 200}, "error GPTBot sends 200 requests a minute to a.test; 1.0 are usual|" + limit},
		{"busy and denied", true, map[judge.Reason]int{judge.Disallowed: 200}, "note Handled: all of the requests of GPTBot to a.test are refused: 200 a minute; how many are usual is not known before six hours|"},
		{"busy", true, map[judge.Reason]int{judge.Allowed: 200}, "warning GPTBot sends 200 requests a minute to a.test; how many are usual is not known before six hours|" + limit},
	} {
		w := newWatcher()
		send := func(n int, why judge.Reason) {
			for i := range n {
				d := &judge.Decision{Reason: why, Subject: judge.Subject{Agent: gptbot}}
				w.app.Counters.Site("a.test").Count(d, &counters.Request{Time: w.now, Target: fmt.Sprintf("/shop/%d", i)})
			}
		}
		for range 7 {
			if !tt.quiet {
				send(60, judge.Allowed)
			}
			w.pass(time.Hour)
		}
		for why, n := range tt.why {
			send(n, why)
		}
		h, err := w.Health(statusapi.Sites("a.test"))
		if err != nil || len(h.Problems) != 1 {
			t.Errorf("%s: %+v %v", tt.name, h, err)
			continue
		}
		p, text := h.Problems[0], ""
		if len(p.Actions) > 0 {
			text = p.Actions[0].What
		}
		if got := p.Severity + " " + p.Message + "|" + text; got != tt.want || h.OK != strings.HasPrefix(tt.want, "note") {
			t.Errorf("%s: %s, OK %t\nwant %s", tt.name, got, h.OK, tt.want)
		}
	}
}

// A problem of all crawlers is that of one if it has most requests, verified search engines counted.
// It stays its problem with a third of them.
func TestBlame(t *testing.T) {
	w, blamed := newWatcher(), everybody
	busy := func() string {
		p := statusapi.Problem{Kind: "shedding", Crawler: everybody, Sites: []string{"a.test"}, Message: "busy"}
		w.blame(&p, &statusapi.Problem{Crawler: blamed})
		blamed = p.Crawler
		return p.Crawler + " " + p.Folder + " " + p.Message
	}
	for _, tt := range []struct {
		agent crawler.Agent
		n     int
		want  string
	}{
		{gptbot, 20, "all  busy"},
		{person, 500, "all  busy"},
		{gptbot, 10, "GPTBot / busy; of 30 requests of robots in this minute and the one before, 30 are those of GPTBot"},
		{googlebot, 40, "GPTBot / busy; of 70 requests of robots in this minute and the one before, 30 are those of GPTBot"},
		{googlebot, 30, "all  busy"},
		{stranger, 300, "self-declared / busy; of 400 requests of robots in this minute and the one before, 300 are those of $(reboot)Bot"},
	} {
		said := claim.Unverified
		if tt.agent == googlebot {
			said = claim.Verified
		}
		w.count(tt.n, "a.test", tt.agent, said, judge.Allowed)
		if got := busy(); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
}

// Impostors that are refused are named, with the networks that they come from.
func TestClaims(t *testing.T) {
	google := crawler.Agent{Class: crawler.Registered, Crawler: crawler.Builtin().Lookup("Googlebot"), Token: "Googlebot"}
	w := newWatcher()
	send := func(n int, client string, state claim.State, why judge.Reason, action judge.Action) {
		for range n {
			d := &judge.Decision{Reason: why, Action: action, Subject: judge.Subject{Agent: google, Claim: claim.Result{State: state}}}
			w.app.Counters.Site("a.test").Count(d, &counters.Request{Time: w.now, Target: "/shop/x", Client: client})
		}
	}
	told := func() (list []string) {
		for _, p := range w.impostorProblems(statusapi.Sites("a.test"), w.app.Counters.View(statusapi.Sites("a.test"), statusapi.SpanHour).Crawlers) {
			list = append(list, p.Severity+" "+p.Message)
		}
		return list
	}
	send(40, "192.0.2.1", claim.Verified, judge.Allowed, judge.Pass)
	send(3, "198.51.100.7", claim.Impostor, judge.Allowed, judge.Pass) // with impostors ignore
	if got := told(); len(got) != 0 {
		t.Errorf("nothing is wrong: %q", got)
	}
	send(5, "198.51.100.7", claim.Impostor, judge.Impostor, judge.Deny)
	send(5, "203.0.113.7", claim.Impostor, judge.Impostor, judge.Deny)
	want := "note Handled: impostors of Googlebot, from 203.0.113.0/24, 198.51.100.0/24, are refused. They sent 13 requests in the last hour"
	if got := strings.Join(told(), "|"); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	until := words.Time(w.now, w.now)
	w.pass(2 * time.Minute)
	if got := strings.Join(told(), "|"); !strings.Contains(got, "from 203.0.113.0/24, 198.51.100.0/24, were refused, until "+until) {
		t.Errorf("two minutes later: %s", got)
	}
	w.pass(2 * time.Hour)
	if got := told(); len(got) != 0 {
		t.Errorf("two hours later: %q", got)
	}
}

// What this program does not have is not there to copy.
func TestActionsOfOtherPrograms(t *testing.T) {
	for text, want := range map[string]string{
		"http_clients on\ncrawl_delay {\n\tburst 2\n}": "http_clients on\ncrawl_delay {\n\tburst 2\n}",
		"http_clients on\nburden 7":                    "",
	} {
		a := possible(statusapi.Action{What: "Slow it down", Text: text, Where: statusapi.Caddyfile})
		if a.Text != want || want == "" && a.What != "Slow it down: the line burden is in Caddy with caddymodule/standard" {
			t.Errorf("%q: %+v", text, a)
		}
	}
}
