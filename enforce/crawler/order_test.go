package crawler_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// A row of a library, a program, a probe, a webhook or an app outranks the words and the contacts of its own product and comment.
func TestRowsOutrankWords(t *testing.T) {
	checkRules(t, []ruleCase{
		{`pip/24.0 {"ci":null,"cpu":"x86_64","openssl_version":"OpenSSL 3.0.11 19 Sep 2023","bot":"x","index":"https://pypi.example/"}`, []string{"library pip"}},
		{`uv/0.4.18 {"installer":{"name":"uv"},"system":{"name":"Linux","crawler":[{}]},"ci":null}`, []string{"library uv"}},
		{"okhttp/4.9 (AcmeBot; +https://acme.example)", []string{"library okhttp"}},
		{"okhttp/4.9 +https://acme.example", []string{"library okhttp"}},
		{"okhttp/4.9 scanner", []string{"library okhttp"}},
		{"PycURL/7.45.2 libcurl/8.5.0 OpenSSL/3.0.11 zlib/1.2.13", []string{"library PycURL", "library libcurl"}},
		{"bundler/2.5.6 rubygems/3.5.6 ruby/3.3.0 (x86_64-linux) command/install options/no_install,mirror.https://rubygems.org/ 9f", []string{"library bundler", "library Ruby"}},
		{"SimplePie/1.8.0 (Feed Parser; http://simplepie.org; Allow like Gecko) Build/20231214", []string{"library SimplePie"}},
		{"HashiCorp Terraform/1.9.5 (+https://www.terraform.io) terraform-provider-acme/1.0 (+https://acme.example)", []string{"program Terraform"}},
		{"HetrixTools Uptime Monitoring Bot. https://hetrix.tools/uptime-monitoring-bot.html", []string{"probe HetrixTools Uptime Monitoring Bot"}},
		{"Mozilla/5.0 (X11; Linux x86_64)" + engine + " PingdomPageSpeed/1.0 (pingbot/2.0; +http://www.pingdom.com/)", []string{"probe PingdomPageSpeed"}},
		{"Mozilla/5.0 (compatible; kube-probe/1.29; +https://acme.example)", []string{"probe kube-probe"}},
		{"Stripe/1.0 (+https://stripe.com/docs/webhooks)", []string{"webhook Stripe"}},
		{"Juice/2.2 (Darwin) +http://juicereceiver.example/", nil},
		{"curl/8.4.0 GPTBot/1.0", []string{"crawler GPTBot"}},
		{"kube-probe/1.29 (GPTBot/1.0)", []string{"probe kube-probe", "crawler GPTBot"}},
	})
}

// A further product that declares itself keeps the client a robot, before or behind the row's.
func TestFurtherProductsThatDeclareThemselves(t *testing.T) {
	checkRules(t, []ruleCase{
		{"MyBot/1.0 (+https://x.example) python-requests/2.31", []string{"self-declared MyBot"}},
		{"python-requests/2.31 MyBot/1.0", []string{"library python-requests", "self-declared MyBot"}},
		{"kube-probe/1.27 FooBot/1.0", []string{"self-declared FooBot"}},
		{"FooSpider/1.0 kube-probe/1.27", []string{"self-declared FooSpider"}},
		{"Terraform/1.9.5 (+https://www.terraform.io) FooCrawler/2", []string{"self-declared FooCrawler"}},
		{"Juice/2.2 (Darwin) FooBot/1.0", []string{"self-declared FooBot"}},
		{"(compatible; EvilBot/1.0; +http://x.example) okhttp/4.9", []string{"library okhttp", "self-declared EvilBot"}},
		{"(compatible; Evilware/1.0) okhttp/4.9", []string{"library okhttp", "self-declared Evilware"}},
		{"Mozilla/5.0 (compatible; Evilware/1.0; +http://x.example) okhttp/4.9", []string{"library okhttp", "self-declared Evilware"}},
		{"okhttp/4.9 Acmeware/1.0 (+https://acme.example)", []string{"library okhttp", "self-declared Acmeware"}},
		{"okhttp/4.9 Acmeware/1.0 (ops@acme.example)", []string{"library okhttp", "self-declared Acmeware"}},
		{"Acmeware/1.0 (https://acme.example) okhttp/4.9", []string{"self-declared Acmeware"}},
		{"Acmeware/1.0 okhttp/4.9 (+https://acme.example)", []string{"self-declared Acmeware"}},
		{"kube-probe/1.27 Acmeware/1.0 (https://acme.example)", []string{"self-declared Acmeware"}},
		{`pip/24.0 {"a":"}"} Acmeware/1.0 (+https://acme.example)`, []string{"library pip", "self-declared Acmeware"}},
		{"Ruby, Acmeware v1.1 (https://acme.example)", []string{"library Ruby", "self-declared Acmeware"}},
		{androidUA + " python-requests/2.31 (+https://x.example)", []string{"self-declared https://x.example"}},
	})
}

// The group for * binds no software that serves people or the owners of sites.
func TestSoftwareThatServesIsFree(t *testing.T) {
	list, err := os.ReadFile("testdata/serving.tsv")
	if err != nil {
		t.Fatal(err)
	}
	m, n := crawler.Builtin().Matcher(nil), 0
	free := []crawler.Class{crawler.Person, crawler.Library, crawler.Program, crawler.Webhook, crawler.Probe}
	for line := range strings.Lines(string(list)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if line == "\n" || line[0] == '#' {
			continue
		}
		if len(fields) != 3 {
			t.Fatalf("%q has %d fields, want a User-Agent, a kind and a source", line, len(fields))
		}
		n++
		var id crawler.Identity
		if m.Identify(fields[0], &id); !slices.Contains(free, id.Class()) {
			t.Errorf("%q (%s) is %v", fields[0], fields[1], agents(&id))
		}
	}
	if n < 400 {
		t.Errorf("%d User-Agents, want at least 400", n)
	}
}

// A token that ends with a hyphen begins the names of a family.
func TestTokensOfFamilies(t *testing.T) {
	checkRules(t, []ruleCase{
		{"azsdk-net-Monitor.Query/1.2.0 (.NET 6.0.24)", []string{"library azsdk-"}},
		{"azsdk-go-azscanner/v1.0.0 (go1.22.1; linux)", []string{"library azsdk-"}},
		{"AZSDK-x/1 FooBot/2", []string{"library azsdk-", "self-declared FooBot"}},
		{"azsdkmonitor/1.0", []string{"self-declared azsdkmonitor"}},
		{"my-azsdk-monitor/1.0", []string{"self-declared my-azsdk-monitor"}},
	})
}

// The name of a module of source code is no host name of a robot.
func TestModulesOfSourceCode(t *testing.T) {
	checkRules(t, []ruleCase{
		{"Acmeware/1.0 (github.com/acme/acmeware)", []string{"program Acmeware"}},
		{"Acmeware golang.org/x/acmeware@v0.1.0", []string{"program Acmeware"}},
		{"Acmeware/1.0 (acme.com/acmeware)", []string{"self-declared acme.com"}},
		{"Acmeware/1.0 (+github.com/acme/acmeware)", []string{"self-declared Acmeware"}},
	})
}

// What another product says of itself is not the name of a service.
func TestNameOfAServiceAsAVersion(t *testing.T) {
	checkRules(t, []ruleCase{
		{"GitLab/16.5.1-ee", []string{"webhook GitLab"}},
		{"Acmeware/1.0 ci/gitlab", []string{"program Acmeware"}},
		{"AcmeBot/1.0 ci/gitlab", []string{"self-declared AcmeBot"}},
	})
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
