package crawler_test

import (
	"slices"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// The group for * binds no software that serves people or the owners of sites.
func TestSoftwareThatServesIsFree(t *testing.T) {
	m, list := crawler.Builtin().Matcher(nil), rows(t, "serving.tsv", 3) // a User-Agent, a kind and a source
	free := []crawler.Class{crawler.Person, crawler.Library, crawler.Program, crawler.Webhook, crawler.Probe}
	for _, row := range list {
		var id crawler.Identity
		if m.Identify(row[0], &id); !slices.Contains(free, id.Class()) {
			t.Errorf("%q (%s) is %v", row[0], row[1], agents(&id))
		}
	}
	if len(list) < 400 {
		t.Errorf("%d User-Agents, want at least 400", len(list))
	}
}

func TestWordsThatMakeAProgram(t *testing.T) {
	for _, word := range []string{"fetch", "ssl", "dns", "search", "parser", "grab"} {
		checkRules(t, []ruleCase{
			{"acme" + word + "/1.0", []string{"program acme" + word}},
			{"acme-" + word + "/1.0", []string{"program acme-" + word}},
			{"acme-" + word + "-client/1.0 (linux; amd64)", []string{"program acme-" + word + "-client"}},
			{"acme-" + word + "/1.0 (+https://acme.example)", []string{"self-declared acme-" + word}},
			{"acme-" + word + "/1.0 (ops@acme.example)", []string{"self-declared acme-" + word}},
			{"Mozilla/5.0 (compatible; acme-" + word + "/1.0)", []string{"self-declared acme-" + word}},
		})
	}
	for _, word := range []string{"crawl", "scrap", "extract", "harvest", "spider", "index"} {
		checkRules(t, []ruleCase{{"acme-" + word + "/1.0", []string{"self-declared acme-" + word}}})
	}
}

// A contact with a plus sign, a mail address and a name with a version after "compatible" declare a robot in every form.
func TestDeclarationsInABrowsersForm(t *testing.T) {
	for _, browser := range []string{"Mozilla/5.0 (Windows NT 10.0; Win64; x64)" + engine, androidUA, safariIOS, webViewIOS, webViewUA} {
		checkRules(t, []ruleCase{
			{browser + " (+https://acme.example)", []string{"self-declared https://acme.example"}},
			{browser + " +https://acme.example", []string{"self-declared https://acme.example"}},
			{browser + " ops@acme.example", []string{"self-declared ops@acme.example"}},
			{browser + " (compatible; Acmeware/1.0)", []string{"self-declared Acmeware"}},
			// an extension adds the page from which it asks
			{browser + " ||| Acme Extension 1.2 Initiator: https://news.example/", nil},
			{browser + " https://news.example/", nil},
		})
	}
	checkRules(t, []ruleCase{
		{"Mozilla/5.0 (compatible; Acmeware/1.0)" + engine, []string{"self-declared Acmeware"}},
		{"Mozilla/5.0 (compatible; Acmeware/1.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Mobile Safari/537.36", []string{"self-declared Acmeware"}},
		{"Mozilla/5.0 (Linux; Android 13; Pixel 7; compatible; Acmeware/1.0)" + engine, []string{"self-declared Acmeware"}},
	})
}

func TestGroupsThatNameAppsApplyToNobody(t *testing.T) {
	m := crawler.Builtin().Matcher([]string{"Slack", "Kobo", "Kobo Touch", "libWeb/clsHTTP", "discord", "Ladybird", "AcmeThing"})
	if got := m.Ignored(); !slices.Equal(got, []string{"Slack", "Kobo", "Kobo Touch", "libWeb/clsHTTP", "discord", "Ladybird"}) {
		t.Errorf("ignored: %q", got)
	}
	for _, ua := range []string{
		"Slack/24.04.10 (iPhone; iOS 17.4; Scale/3.00)",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Slack/4.41.105 Chrome/130.0.6723.191 Electron/33.3.2 Safari/537.36",
		"Mozilla/5.0 (Linux; U; Android 2.0; en-us;) AppleWebKit/538.1 (KHTML, like Gecko) Version/4.0 Mobile Safari/538.1 (Kobo Touch 0384/4.38.21908)",
		"Mozilla/5.0 (X11; Linux; x86_64) Ladybird/1.0",
	} {
		if got := identify(m, ua); len(got) > 0 {
			t.Errorf("%q is %q, want a person", ua, got)
		}
	}
	if got := identify(m, "Slackbot 1.0 (+https://api.slack.com/robots)"); !slices.Equal(got, []string{"user-triggered Slackbot"}) {
		t.Errorf("Slackbot is %q", got)
	}
}
