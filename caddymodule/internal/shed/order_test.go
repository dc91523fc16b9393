package shed

import (
	"net/http"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// decide returns the decision on a request with a User-Agent at a site without
// rules.
func decide(t *testing.T, q *judge.Request, ua string) *judge.Decision {
	t.Helper()
	rules, err := judge.Settings{Exempt: []judge.Exemption{{Name: "PetalBot"}}, ExemptPaths: []string{"/free/"}}.Rules(judge.Response{Status: http.StatusNotFound})
	if err != nil {
		t.Fatal(err)
	}
	d := new(judge.Decision)
	q.UserAgents = []string{ua}
	rules.Check(q, d)
	return d
}

func TestRanks(t *testing.T) {
	const browser = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"
	standard := NewOrder(nil, true)
	if got, want := strings.Join(standard.Steps, ","), "self-declared,ai-*,seo,archive,preview,search,verified search engines"; got != want {
		t.Errorf("steps %s, want %s", got, want)
	}
	sparing, own := NewOrder(nil, false), NewOrder([]string{"ai-training", "archive"}, true)
	if got, want := strings.Join(own.Steps, ","), "ai-training,archive,self-declared,ai-*,seo,preview,search,verified search engines"; got != want {
		t.Errorf("steps %s, want %s", got, want)
	}
	for _, tt := range []struct {
		order *Order
		ua    string
		q     judge.Request
		want  string // the step; "" for never
	}{
		{standard, browser, judge.Request{Target: "/"}, ""},
		{standard, "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148", judge.Request{Target: "/"}, ""},
		{standard, "curl/8.5.0", judge.Request{Target: "/"}, ""},
		{standard, "", judge.Request{Target: "/"}, ""},
		{standard, "SiteSweeper/2.0", judge.Request{Target: "/"}, ""},
		{standard, "GitHub-Hookshot/044aadd", judge.Request{Target: "/"}, ""},
		{standard, "kube-probe/1.31", judge.Request{Target: "/"}, ""},
		{standard, "PetalBot", judge.Request{Target: "/"}, ""},
		{standard, "GPTBot/1.2", judge.Request{Target: "/robots.txt"}, ""},
		{standard, "GPTBot/1.2", judge.Request{Target: "/free/x"}, ""},
		{standard, "NewThingBot/1.0 (+https://x.example/)", judge.Request{Target: "/", Method: http.MethodPost}, ""},
		{standard, "NewThingBot/1.0 (+https://x.example/)", judge.Request{Target: "/", Authorized: true}, ""},
		{standard, "NewThingBot/1.0 (+https://x.example/)", judge.Request{Target: "/"}, "self-declared"},
		{standard, "HTTrack/3.0", judge.Request{Target: "/"}, "self-declared"},
		{standard, "GPTBot/1.2", judge.Request{Target: "/", Method: http.MethodPost}, "ai-*"},
		{standard, "ClaudeBot/1.0", judge.Request{Target: "/"}, "ai-*"},
		{standard, "AhrefsBot/7.0", judge.Request{Target: "/"}, "seo"},
		{standard, "archive.org_bot", judge.Request{Target: "/"}, "archive"},
		{standard, "Slackbot-LinkExpanding 1.0", judge.Request{Target: "/"}, "preview"},
		{standard, "Googlebot/2.1", judge.Request{Target: "/"}, "search"},
		{standard, "AdsBot-Google", judge.Request{Target: "/"}, "search"},
		{sparing, "Googlebot/2.1", judge.Request{Target: "/"}, ""},
		{sparing, "AdsBot-Google", judge.Request{Target: "/"}, ""},
		{sparing, "GPTBot/1.2", judge.Request{Target: "/"}, "ai-*"},
		{own, "GPTBot/1.2", judge.Request{Target: "/"}, "ai-training"},
		{own, "OAI-SearchBot/1.0", judge.Request{Target: "/"}, "ai-*"},
		{own, browser, judge.Request{Target: "/"}, ""},
	} {
		d := decide(t, &tt.q, tt.ua)
		r, ok := tt.order.RankOf(&tt.q, d)
		got := ""
		if ok {
			got = tt.order.Steps[r.Step]
		}
		if got != tt.want || ok && (r.Engine != "") != (tt.want == "search") {
			t.Errorf("%s %s %s: step %q, %+v; want %q", tt.ua, tt.q.Method, tt.q.Target, got, r, tt.want)
		}
	}
	q := judge.Request{Target: "/"}
	d := decide(t, &q, "Googlebot/2.1")
	d.Claim.State = verify.Verified
	if r, ok := standard.RankOf(&q, d); !ok || !r.Verified || standard.Steps[r.Step] != verified {
		t.Errorf("the verified Googlebot: %+v, %v", r, ok)
	}
	if _, ok := sparing.RankOf(&q, d); ok {
		t.Error("the verified Googlebot is refused without in_flight")
	}
	d.Claim.State = verify.Impostor
	if got := standard.Describe(&q, d); got != "step 1 of 7: self-declared" {
		t.Errorf("an impostor: %s", got)
	}
}

// Each purpose of the package crawler has a place, or belongs to robots that have
// none.
func TestKindsHaveEachPurposeOnce(t *testing.T) {
	seen := make(map[crawler.Purpose]bool)
	for _, k := range kinds {
		for _, p := range k.purposes {
			if seen[p] {
				t.Errorf("%s is there twice", p)
			}
			seen[p] = true
		}
	}
}
