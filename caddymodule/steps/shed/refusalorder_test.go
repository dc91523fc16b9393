package shed

import (
	"net/http"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
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

func TestSteps(t *testing.T) {
	const browser = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"
	if got, want := strings.Join(Steps, ","), "self-declared,ai-*,seo,archive,preview,search,verified search engines"; got != want {
		t.Errorf("steps %s, want %s", got, want)
	}
	for _, tt := range []struct {
		ua   string
		q    judge.Request
		want string // the step; "" for never
	}{
		{browser, judge.Request{Target: "/"}, ""},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148", judge.Request{Target: "/"}, ""},
		{"curl/8.5.0", judge.Request{Target: "/"}, ""},
		{"", judge.Request{Target: "/"}, ""},
		{"SiteSweeper/2.0", judge.Request{Target: "/"}, ""},
		{"GitHub-Hookshot/044aadd", judge.Request{Target: "/"}, ""},
		{"kube-probe/1.31", judge.Request{Target: "/"}, ""},
		{"PetalBot", judge.Request{Target: "/"}, ""},
		{"GPTBot/1.2", judge.Request{Target: "/robots.txt"}, ""},
		{"GPTBot/1.2", judge.Request{Target: "/free/x"}, ""},
		{"NewThingBot/1.0 (+https://x.example/)", judge.Request{Target: "/", Method: http.MethodPost}, ""},
		{"NewThingBot/1.0 (+https://x.example/)", judge.Request{Target: "/", Authorized: true}, ""},
		{"NewThingBot/1.0 (+https://x.example/)", judge.Request{Target: "/"}, "self-declared"},
		{"HTTrack/3.0", judge.Request{Target: "/"}, "self-declared"},
		{"GPTBot/1.2", judge.Request{Target: "/", Method: http.MethodPost}, "ai-*"},
		{"ClaudeBot/1.0", judge.Request{Target: "/"}, "ai-*"},
		{"AhrefsBot/7.0", judge.Request{Target: "/"}, "seo"},
		{"archive.org_bot", judge.Request{Target: "/"}, "archive"},
		{"Slackbot-LinkExpanding 1.0", judge.Request{Target: "/"}, "preview"},
		{"Googlebot/2.1", judge.Request{Target: "/"}, "search"},
		{"AdsBot-Google", judge.Request{Target: "/"}, "search"},
	} {
		d := decide(t, &tt.q, tt.ua)
		got := ""
		if step, ok := StepOf(&tt.q, d); ok {
			got = Steps[step]
		}
		if got != tt.want {
			t.Errorf("%s %s %s: step %q, want %q", tt.ua, tt.q.Method, tt.q.Target, got, tt.want)
		}
	}
	q := judge.Request{Target: "/"}
	d := decide(t, &q, "Googlebot/2.1")
	d.Claim.State = claim.Verified
	if step, ok := StepOf(&q, d); !ok || step != verifiedStep {
		t.Errorf("the verified Googlebot: %d, %v", step, ok)
	}
	d.Claim.State = claim.Impostor
	if got := (*Shed)(nil).Explain(&q, d); got != "refused while the server is busy, step 1 of 7: self-declared" {
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
