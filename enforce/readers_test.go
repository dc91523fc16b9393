package enforce

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// User-Agents of clients that fetch what people share or subscribe to.
const (
	whatsApp = "WhatsApp/2.23.20.0"
	meta     = "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"
	iMessage = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 " +
		"Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0"
)

// passes returns how many of n requests from an address at once pass.
func (e *engineTest) passes(n int, ua, client string) (passed int) {
	for range n {
		if d := e.decideOn(judge.Request{UserAgents: []string{ua}, Client: client, Target: "/"}); d.Action == judge.Pass {
			passed++
		}
	}
	return passed
}

// The rate of `*` holds each address of what fetches for readers, with a burst of ten.
func TestPreviewsFeedsAndImageProxies(t *testing.T) {
	for ua, want := range map[string]int{
		whatsApp: 10, iMessage: 10, meta: 10,
		"Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)":                                         10,
		"Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)":                                                10,
		"facebookexternalhit/1.1;line-poker/1.0":                                                                    10,
		"Mozilla/5.0 (compatible; Pinterestbot/1.0; +http://www.pinterest.com/bot.html)":                            10,
		"Mozilla/5.0 (compatible; Miniflux/2.1; +https://miniflux.app)":                                             10,
		"FreshRSS/1.24 (Linux; https://freshrss.org)":                                                               10,
		"http.rb/5.1.1 (Mastodon/4.2.0; +https://social.example/)":                                                  10,
		"Feedbin feed-id:1 - 3 subscribers":                                                                         10,
		"YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html":                                  10,
		"github-camo (876de43e)":                                                                                    10,
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ChatGPT-User/1.0; +https://openai.com/bot)": 1,
		fake.Bingbot: 1, fake.Newbot: 1, fake.Wget: 1, "wkhtmltopdf/0.12": 1,
	} {
		for file, burst := range map[string]int{"Crawl-delay: 10\n": want, "Request-rate: 1/10s\n": want, "Request-rate: 20/200s\n": 20} {
			e := newEngineTest(t, "User-agent: *\n"+file, judge.Settings{})
			for _, client := range []string{"192.0.2.1", "192.0.2.2", "2001:db8::1"} {
				if got := e.passes(25, ua, client); got != burst && (want == 10 || client == "192.0.2.1") {
					t.Errorf("%q: %s from %s: %d requests at once pass, want %d", file, ua, client, got, burst)
				}
			}
			if want == 10 && e.passes(1, ua, "2001:db8::2") != 0 {
				t.Errorf("%q: %s: addresses of a network count alone", file, ua)
			}
		}
	}
	for settings, want := range map[*judge.Settings]int{{Burst: 12}: 12, {Burst: 3}: 10, {PerIP: true}: 10, {Strict: true}: 10, {IgnoreUserTriggered: true}: 25} {
		if got := newEngineTest(t, "User-agent: *\nCrawl-delay: 10\n", *settings).passes(25, whatsApp, "192.0.2.1"); got != want {
			t.Errorf("%+v: %d requests pass, want %d", settings, got, want)
		}
	}
}

// A group that names a preview holds all its addresses together.
func TestPreviewWithAGroupOfItsOwn(t *testing.T) {
	e := newEngineTest(t, "User-agent: WhatsApp\nUser-agent: facebookexternalhit\nCrawl-delay: 10\n\nUser-agent: *\nCrawl-delay: 20\n", judge.Settings{})
	if a, b := e.passes(2, whatsApp, "192.0.2.1"), e.passes(1, whatsApp, "192.0.2.2"); a != 1 || b != 0 {
		t.Errorf("WhatsApp: %d and %d requests pass", a, b)
	}
	// What names the crawler for compatibility uses nothing of its budget.
	for i, client := range []string{"192.0.2.1", "192.0.2.2"} {
		if got := e.passes(2, iMessage, client); got != 1 {
			t.Errorf("phone %d: %d requests pass", i+1, got)
		}
	}
	if a, b := e.passes(2, meta, "192.0.2.3"), e.passes(1, meta, "192.0.2.4"); a != 1 || b != 0 {
		t.Errorf("facebookexternalhit: %d and %d requests pass", a, b)
	}
}

// So does a group that is also the one for `*`.
func TestPreviewInTheGroupForAll(t *testing.T) {
	e := newEngineTest(t, "User-agent: *\nUser-agent: WhatsApp\nUser-agent: GPTBot\nCrawl-delay: 10\n", judge.Settings{})
	if a, b := e.passes(2, whatsApp, "192.0.2.1"), e.passes(1, whatsApp, "192.0.2.2"); a != 1 || b != 0 {
		t.Errorf("WhatsApp: %d and %d requests pass", a, b)
	}
	if got := e.passes(12, meta, "192.0.2.1"); got != 10 {
		t.Errorf("facebookexternalhit: %d requests pass", got)
	}
	if got := e.passes(3, "GPTBot/1.0 Discordbot/2.0", "192.0.2.1"); got != 1 {
		t.Errorf("GPTBot with a preview: %d requests pass", got)
	}
}

// A preview that names other crawlers uses none of their budgets.
func TestPreviewThatNamesOtherCrawlers(t *testing.T) {
	const file = "User-agent: *\nCrawl-delay: 10\n\nUser-agent: GPTBot\nCrawl-delay: 10\n"
	e := newEngineTest(t, file, judge.Settings{})
	for _, ua := range []string{iMessage, "SkypeUriPreview Preview/0.5 bingbot/2.0", "GPTBot/1.0 WhatsApp/2.0"} {
		for _, client := range []string{"192.0.2.1", "192.0.2.2"} {
			if e.passes(1, ua, client) != 1 {
				t.Errorf("%s from %s is throttled", ua, client)
			}
		}
	}
	for ua, client := range map[string]string{meta: "192.0.2.3", "Twitterbot/1.0": "192.0.2.3", fake.Bingbot: "192.0.2.3", "GPTBot/1.0": "192.0.2.3"} {
		if e.passes(1, ua, client) != 1 {
			t.Errorf("%s: another client has used its budget", ua)
		}
	}
	if got := e.passes(3, "GPTBot/1.0", "192.0.2.4"); got != 0 {
		t.Errorf("%d further requests of GPTBot pass", got)
	}
}

// Whatever verification says about a preview, each address has a budget of its own: the
// operator's many addresses too, and phones that send the name for compatibility.
func TestVerifiedPreviews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVerifiedTest(t, judge.Settings{Verification: &judge.Verification{IgnoreImpostors: true}})
		want := func(addr string, state claim.State) {
			t.Helper()
			for range 10 {
				v.wants(t, addr, "ListPreview/1.0", "/", state, judge.Allowed)
			}
			v.wants(t, addr, "ListPreview/1.0", "/", state, judge.CrawlDelay)
		}
		for i := range 11 { // as many as would empty the pool of unverified claims
			want(fmt.Sprintf("198.51.100.%d", i+1), claim.Unverified)
		}
		synctest.Wait()
		want("192.0.2.1", claim.Verified)
		want("192.0.2.2", claim.Verified)
		want("198.51.100.31", claim.Impostor)
		want("198.51.100.32", claim.Impostor)
		a := v.Agent("ListPreview", nil)
		if keys, perAddr := v.Budgets(fake.Home, &a, false); len(keys) != 0 || !perAddr {
			t.Errorf("%d budgets, %t", len(keys), perAddr)
		}
	})
}
