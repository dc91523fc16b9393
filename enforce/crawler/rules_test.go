package crawler_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// ruleCase is a User-Agent with its agents.
type ruleCase struct {
	ua   string
	want []string // "class token" of each agent; nil for a person
}

// checkRules checks each case with a matcher that has no tokens of a site.
func checkRules(t *testing.T, cases []ruleCase) {
	t.Helper()
	m := crawler.Builtin().Matcher(nil)
	for _, c := range cases {
		if got := identify(m, c.ua); !slices.Equal(got, c.want) {
			t.Errorf("%q is %q, want %q", c.ua, got, c.want)
		}
	}
}

// people returns cases of User-Agents that are people's.
func people(uas ...string) (cases []ruleCase) {
	for _, ua := range uas {
		cases = append(cases, ruleCase{ua, nil})
	}
	return cases
}

const (
	engine     = " AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36"
	ieXP       = "Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1"
	safariIOS  = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1"
	webViewIOS = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148"
	androidUA  = "Mozilla/5.0 (Linux; Android 13; Pixel 7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Mobile Safari/537.36"
	webViewUA  = "Mozilla/5.0 (Linux; Android 13; Pixel 7; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/124.0.0.0 Mobile Safari/537.36"
)

func TestTokenBeforeAVersionAfterAHyphen(t *testing.T) {
	checkRules(t, []ruleCase{
		{"Googlebot-2.1", []string{"crawler Googlebot"}},
		{"GPTBot_1.2 (+https://openai.com/gptbot)", []string{"crawler GPTBot"}},
		{"ia_archiver-v1", []string{"crawler ia_archiver"}},
		{"Sogou web spider-4.0", []string{"crawler Sogou web spider"}},
		{"Wget-1.21", []string{"scraper Wget"}},
		{"Wget_1-21-4", []string{"scraper Wget"}},
		{"SemrushBot-2x", []string{"self-declared SemrushBot-2x"}},
		{"Mozilla/5.0 (compatible; GPTBot-1.2)", []string{"crawler GPTBot"}},
		{"trendictionbot0.5.0", []string{"crawler trendictionbot"}},
		{"Mozilla/5.0 (Windows; U; rv:1.0; trendictionbot0.5.0; +http://acme.example) Gecko/20071127", []string{"crawler trendictionbot"}},
		{"MJ12bot1.4.8", []string{"crawler MJ12bot"}},
		{"AcmeBot0.5.0 (ops)", []string{"self-declared AcmeBot"}},
		{"GPTBots-friend", []string{"self-declared GPTBots-friend"}},
		{"GPTBots1.0", []string{"self-declared GPTBots"}},
		{"GPTBot2", []string{"self-declared GPTBot2"}}, // may be another crawler
		{"notgptbot1.2", []string{"self-declared notgptbot"}},
	})
	m := crawler.Builtin().Matcher([]string{"Quxfetch", "Quxfetch-2"})
	for ua, want := range map[string]string{"Quxfetch-1.7": "named Quxfetch", "Quxfetch-2": "named Quxfetch-2", "Quxfetch-2.0": "named Quxfetch-2"} {
		if got := identify(m, ua); !slices.Equal(got, []string{want}) {
			t.Errorf("%q is %q, want %q", ua, got, want)
		}
	}
}

func TestWordsForWhatCrawlersDo(t *testing.T) {
	checkRules(t, []ruleCase{
		{"AcmeMonitor.com", []string{"self-declared AcmeMonitor.com"}},
		{ieXP + ") AcmeMonitor.com", []string{"self-declared AcmeMonitor.com"}},
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64)" + engine + " acme-uptime.net", []string{"self-declared acme-uptime.net"}},
		{"Opera/9.80 (Windows NT 6.1) Presto/2.12.388 Version/12.18 AcmeChecker/1.0", []string{"self-declared AcmeChecker"}},
		{"Chrome/80.0.3987.87 Safari/537.36 AcmeSynthetics/1.0", []string{"self-declared AcmeSynthetics"}},
		{androidUA + " AcmeLinkChecker/1.0", []string{"self-declared AcmeLinkChecker"}},
		{safariIOS + " acme-scanner", []string{"self-declared acme-scanner"}},
		// such a word can be part of the name of an app that shows pages
		{webViewIOS + " AcmeScanner/3.1", nil},
		{webViewUA + " AcmeMonitor/2.0", nil},
		{"Mozilla/5.0 (FetchTV; Linux armv7l) AppleWebKit/537.36 (KHTML, like Gecko) Safari/537.36", nil},
		{"Mozilla/5.0 (PlayStation 4 11.00) AppleWebKit/605.1.15 (KHTML, like Gecko) AcmeFetch/1.0", nil},
	})
}

func TestHostNamesBeforeOrAfterABrowser(t *testing.T) {
	checkRules(t, []ruleCase{
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64)" + engine + " acme.com", []string{"self-declared acme.com"}},
		{"acme.com Mozilla/5.0 (X11; Linux x86_64)" + engine, []string{"self-declared acme.com"}},
		{"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)" + engine + " (Acme Labs, acme.com)", []string{"self-declared acme.com"}},
		{"Mozilla/5.0 (Windows NT 6.1; WOW64) acme.com/policy" + engine, []string{"self-declared acme.com"}},
		{"Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 6.0; Acme Browser [acmebrowser.com]; SLCC1; .NET CLR 2.0.50727)", nil},
		{webViewUA + " Acme.de/1.0", nil},
	})
}

func TestContactsInABrowsersComment(t *testing.T) {
	checkRules(t, []ruleCase{
		{ieXP + "; http://acme.example/crawl)", []string{"self-declared http://acme.example/crawl"}},
		{ieXP + "; ops@acme.example)", []string{"self-declared ops@acme.example"}},
		{ieXP + "; SV1; .NET CLR 1.1.4322; ops@acme.example)", []string{"self-declared ops@acme.example"}},
		{ieXP + "; SV1; .NET CLR 1.1.4322) http://acme.example/why", []string{"self-declared http://acme.example/why"}},
		{"Mozilla/5.0 (Linux; Android 4.1; Nexus 4; AcmeTest http://acme.example/) AppleWebKit/537.22 (KHTML, like Gecko) Chrome/26.0.1410.58 Mobile Safari/537.22",
			[]string{"self-declared AcmeTest"}},
		// programs that add their maker's address to a person's browser
		{ieXP + "; SV1; http://toolbar.example)", nil},
		{ieXP + "; .NET CLR 2.0.50727; http://toolbar.example)", nil},
		{"Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1; Trident/4.0; SLCC2; http://toolbar.example; .NET CLR 2.0.50727; Media Center PC 6.0)", nil},
		{ieXP + "; Embedded Web Browser from: http://bsalsa.com/)", nil},
	})
}

func TestFrameworksLibrariesAndProductsMadeWithThem(t *testing.T) {
	checkRules(t, []ruleCase{
		{"colly - https://github.com/gocolly/colly", []string{"scraper colly"}},
		{"WWW-Mechanize/2.17", []string{"scraper WWW-Mechanize"}},
		{"Mozilla/5.0 (compatible; heritrix/3.4.0 +http://archive.example)", []string{"scraper heritrix"}},
		{"Acmeware/1.0 python-requests/2.31.0", []string{"program Acmeware"}},
		{"AcmeBot/1.0 Go-http-client/2.0", []string{"self-declared AcmeBot"}},
		{"AcmeLinkChecker/1.0 libwww-perl/6.03", []string{"self-declared AcmeLinkChecker"}},
		{"Acmeware/1.0 (+https://acme.example) axios/1.6.0", []string{"self-declared Acmeware"}},
		{"python-requests/2.31.0", []string{"library python-requests"}},
		{"Apache-HttpClient/4.5.2 (Java/1.8.0_65)", []string{"library Apache-HttpClient", "library Java"}},
		{"Acmeware/Nutch-1.19 (acme research)", []string{"scraper Acmeware"}}, // falls back to Nutch's group
	})
	var id crawler.Identity
	crawler.Builtin().Matcher(nil).Identify("Acmeware/Nutch-1.19", &id)
	if a := id.At(0); a.Crawler == nil || a.Crawler.Name != "Nutch" {
		t.Errorf("Acmeware/Nutch-1.19 falls back to the groups of %v, want Nutch", a.Crawler)
	}
}

func TestSoftwareOfACrawlerIsNotASecondCrawler(t *testing.T) {
	checkRules(t, []ruleCase{
		{"AcmeBot/2.0 (compatible; heritrix/3.4.0 +http://acme.example)", []string{"self-declared AcmeBot"}},
		{"Acmeware/1.0 (based on Nutch/1.19; ops@acme.example)", []string{"self-declared Acmeware"}},
		{"Acmeware (powered by Scrapy/2.11)", []string{"self-declared Acmeware"}},
		{"Mozilla/5.0 (compatible; archive.org_bot/heritrix-3.4 +http://archive.org/details/archive.org_bot)", []string{"crawler archive.org_bot"}},
		{"Mozilla/5.0 (compatible; GPTBot/1.2; based on Scrapy/2.11)", []string{"crawler GPTBot"}},
		{"Scrapy/2.11.1 (+https://scrapy.org)", []string{"scraper Scrapy"}},
	})
}

func TestTokensThatAppsSendTooCountWithADeclaration(t *testing.T) {
	checkRules(t, []ruleCase{
		{"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)" + engine + " Pinterest/0.2 (+https://www.pinterest.com/bot.html)", []string{"crawler Pinterest"}},
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64)" + engine + " Netcraft (+http://www.netcraft.com/contact)", []string{"crawler Netcraft"}},
		{webViewIOS + " [Pinterest/iOS]", nil},
	})
}

func TestAppsInAPlatformsFormArePeople(t *testing.T) {
	checkRules(t, people(
		"iRobot Home/6.0 (iPhone; iOS 17.0; Scale/3.00)",
		"Chatbot/42 CFNetwork/1485 Darwin/23.1.0",
		"Web%20Crawler/7 CFNetwork/1474 Darwin/23.0.0 (x86_64) (MacBookPro18%2C1)",
		"SpiderSolitaire (unknown version) CFNetwork/1390 Darwin/22.0.0",
		"NewsScraper/3.2 (iPad; iOS 16.6.1; Scale/2.00)",
		"LinkChecker 1.0.6 (iPhone; iPhone OS 5.1.1; en_US)",
		"RoboChat/5.4 (org.example.RoboChat; build:12; iOS 17.2.0) Alamofire/5.8.1",
		"GraphParser/1 (org.example.graphparser; build:3; macOS 14.2.0) Alamofire/5.8.1",
		"Dalvik/2.1.0 (Linux; U; Android 13; Pixel 7 Build/TQ3A.230805.001)",
		"SpiderBot/2.0 Dalvik/2.1.0 (Linux; U; Android 12; M2101K6G Build/SKQ1)",
		"org.example.chatbot/2023 (Linux; U; Android 14; en_US; Pixel 8; Build/UD1A; Cronet/120.0.6099.144)",
		"Chatbot/2.1.0 okhttp/4.12.0",
		"My Chatbot/2.1 (Android 13; en) okhttp/4.9.3",
		"Mastodon/2024.3 CFNetwork/1490 Darwin/23.2.0",
		"Miniflux/1 CFNetwork/1490 Darwin/23.2.0",
	))
	checkRules(t, []ruleCase{
		{"okhttp/4.12.0", []string{"library okhttp"}},
		// an incomplete form does not indicate a person
		{"AcmeBot/1.0 (+https://acme.example/bot) CFNetwork/1485 Darwin/23.1.0", []string{"self-declared AcmeBot"}},
		{"AcmeBot/1.0 CFNetwork", []string{"self-declared AcmeBot"}},
		{"AcmeBot/1.0 (crawler; CFNetwork/1485 Darwin/23.1.0)", []string{"self-declared AcmeBot"}},
		{"AcmeCrawler/1.0 (iPhone; acme)", []string{"self-declared AcmeCrawler"}},
		{"AcmeCrawler/1.0 (iPhone; iOS 17.0; https://acme.example)", []string{"self-declared AcmeCrawler"}},
		{"AcmeCrawler (compatible; okhttp/4.9.0)", []string{"self-declared AcmeCrawler"}},
		{"AcmeCrawler/1.0 okhttp", []string{"self-declared AcmeCrawler"}},
		// a crawler of the registry counts in any form
		{"GPTBot/1.2 CFNetwork/1485 Darwin/23.1.0", []string{"crawler GPTBot"}},
	})
	m := crawler.Builtin().Matcher([]string{"Chatbot"})
	if got := identify(m, "Chatbot/42 CFNetwork/1485 Darwin/23.1.0"); got != nil {
		t.Errorf("an app with the name of one of the site's groups is %q, want a person", got)
	}
}

func TestUnusualBrowsersArePeople(t *testing.T) {
	checkRules(t, people(
		// the KHTML comment misspelt, translated or cut off
		"Mozilla/5.0 (Windows NT 6.1) AppleWebKit/537.36 (KHTML, lyke Gekko) Chrome/41.0.2272.76 Safari/537.36",
		"Mozilla/5.0 (Windows NT 6.1) AppleWebKit/537.36 (KHTML, wie Gecko) Chrome/41.0.2272.76 Safari/537.36",
		"Mozilla/5.0 (Linux; Android 5.1; X9) AppleWebKit/537.36 (KHTML, link Gecko) Version/4.0 Chrome/43.0.2357.121 Mobile Safari/537.36",
		"Mozilla/5.0 (Windows NT 6.1) AppleWebKit/537.36 (KHTML, comme Gecko) Chrome/41.0.2272.76 Safari/537.36",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 8_1 like Mac OS X) AppleWebKit/600.1.4 (KHTML, li",
		"Mozilla/5.0 (Windows; U; Windows NT 5.1; en) AppleWebKit/522.11 (KHTML, similar",
		// browsers' names with the version attached
		"Mozilla/4.0 (compatible; MSIE6.0; Windows NT 5.1)",
		"Mozilla/4.0 (compatible; MSIE5.5; Windows98)",
		"Mozilla/5.0 (compatible; Konqueror3.5; Linux)",
		"Mozilla/5.0 (compatible; Opera9.5; Windows NT 5.1)",
		// with the word Browser
		"Mozilla/5.0 (compatible; Acme Browser 1.2; Haiku)",
		"Mozilla/5.0 (compatible; AcmeBrowser/1.2; Windows NT 6.1)",
		// an unknown word before an engine
		"Mozilla/5.0 (compatible; Syllable; i586) AppleWebKit/420+ (KHTML, like Gecko)",
		"Mozilla/5.0 (compatible; MorphOSX; ppc; U; en) AppleWebKit/533.3 (KHTML, like Gecko) Version/4.0 Safari/533.3",
		// a home page after a browser's name
		"Dillo/3.0 (http://www.dillo.example)",
		"Mozilla/5.0 (X11; U; Linux i686; en-US) Gecko/20081217 K-Meleon/1.5.4 (http://kmeleon.example)",
		"Lunascape/5.1 (http://www.lunascape.example)",
		"AcmeBrowser/2.0 (https://acmebrowser.example)",
		// additions of programs on a person's computer, and of proxies that people use
		"Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 6.0; SLCC1; .NET CLR 2.0.50727; Acme Antivirus)",
		"Mozilla/5.0 (Windows NT 6.1; WOW64)"+engine+",gzip(gfe) (via translate.example.com)",
		"Mozilla/1.22 (compatible; MSIE 5.01; PalmOS 3.0) Acmeweb 2",
		"Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; SV1) NS8/0.9.6",
		"Mozilla/3.0 (compatible; AvantGo 3.2)",
		// consoles, telephones and televisions
		"Mozilla/5.0 (Unknown; Linux x86_64) AppleWebKit/538.1 (KHTML, like Gecko) Safari/538.1 LG Browser/8.00.00(LGE; 43UF6407-ZA)",
		"Mozilla/5.0 (Unknown; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/38.0.2125.122 Safari/537.36 SmartTV",
		"SAMSUNG-SGH-X820/X820XEFG2 NetFront/3.2 Profile/MIDP-2.0 Configuration/CLDC-1.1 SSL/1.0",
		"Mozilla/4.08 (PSP; PlayStation Portable; 2.00) NetFront/3.0 SSL",
		"Mozilla/5.0 (Nintendo WiiU) AppleWebKit/536.28 (KHTML, like Gecko) NX/3.0.3.12.6 fetch NintendoBrowser/2.0.0.9362.US",
	))
	checkRules(t, []ruleCase{
		{"Mozilla/5.0 (compatible; Acme/1.2) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36", []string{"self-declared Acme"}},
		{"Mozilla/5.0 (compatible; Acme Browser/1.2; +https://acme.example)", []string{"self-declared Acme"}},
		{"Mozilla/5.0 (X11; Linux x86_64)" + engine + " (compatible; Acme)", []string{"self-declared Acme"}},
		{"Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/41.0.2272.96 Mobile Safari/537.36 (compatible; Acmeamp)",
			[]string{"self-declared Acmeamp"}},
		{"Mozilla/5.0 (Unknown; Linux x86_64) AppleWebKit/538.1 (KHTML, like Gecko) Acme/1.0", []string{"scraper Unknown; Linux x86_64"}},
	})
}

func TestNamesInPlacesWhereBrowsersHaveNone(t *testing.T) {
	checkRules(t, []ruleCase{
		{"Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; Trident/5.0) Acme/276", nil},    // an addition to a person's browser
		{"Mozilla/5.0 (compatible; acme.example.com)", []string{"program acme.example.com"}}, // without a contact, or a name
		{"Acmeware/1.0 (compatible; MSIE 6.0; Windows NT 5.1)", []string{"program Acmeware"}},
		{"Acmeware Mozilla/5.0 (X11; Linux x86_64)" + engine, []string{"program Acmeware"}},
		{"Acmewave/1.0 Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)" + engine, []string{"program Acmewave"}}, // an app
		{"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)" + engine + " Acmeware", nil},
		{"Mozilla/5.0", []string{"program Mozilla"}},
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64)", nil},     // a privacy tool removed the rest
		{"Mozilla/4.79 [en] (X11; U; Linux 2.4.18 i686)", nil}, // Netscape
		{"Chrome", []string{"program Chrome"}},
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64)" + engine + " Acmeware/3.1", nil}, // an unknown browser with its version
		{"Mozilla/5.0 (Windows NT 10.0; WOW64)" + engine + " OPR/45.0.2539.0 (Edition developer)", nil},
		{"Mozilla/5.0 (Windows NT 10.0; WOW64)" + engine + " AcmeBrowser", nil},
	})
}

func TestProgramsThatSendOnlyTheirName(t *testing.T) {
	checkRules(t, []ruleCase{
		{"SiteSweeper/2.0", []string{"program SiteSweeper"}},
		{"acme", []string{"program acme"}},
		{"a7ware/1.0", []string{"program a7ware"}},
		{"ELB", []string{"program ELB"}},
		{"LGU8120", nil},
		{"-", []string{"library "}},
		{"--- ...", []string{"library "}},
		{"123", nil},
	})
}

func TestWebhooks(t *testing.T) {
	checkRules(t, []ruleCase{
		{"GitHub-Hookshot/044aadd", []string{"webhook GitHub-Hookshot"}},
		{"Stripe/1.0 (+https://stripe.com/docs/webhooks)", []string{"webhook Stripe"}},
		{"PayPal IPN ( https://www.paypal.com/ipn )", []string{"webhook PayPal IPN"}},
		{"PayPal/AUHR-214.0-55417034", []string{"webhook PayPal/AUHR"}},
		{"GitLab/17.2.0", []string{"webhook GitLab"}},
		{"Acme-Webhooks/1.2", []string{"webhook Acme-Webhooks"}},
		{"PayPal/8.10 (iPhone; iOS 17.0; Scale/3.00)", nil},
	})
}

func TestTooLongUserAgentsAreNotPeople(t *testing.T) {
	m := crawler.Builtin().Matcher(nil)
	pad := strings.Repeat("Lorem ipsum (", 60)
	if len(pad) < 600 {
		t.Fatal("the padding is too short")
	}
	for _, c := range []struct {
		ua    string
		class crawler.Class
	}{
		{pad + "GPTBot/1.2", crawler.Registered},
		{pad + "AcmeBot/1.0", crawler.SelfDeclared},
		{strings.Repeat("x ", crawler.MaxUserAgent) + "GPTBot/1.2", crawler.SelfDeclared},
		{chrome + strings.Repeat(" ", crawler.MaxUserAgent), crawler.SelfDeclared},
		{"curl/8.5.0" + strings.Repeat(" ", crawler.MaxUserAgent), crawler.SelfDeclared},
		{"GPTBot" + strings.Repeat(" ", crawler.MaxUserAgent), crawler.Registered},
	} {
		var id, cached crawler.Identity
		m.Identify(c.ua, &id)
		if id.Class() != c.class {
			t.Errorf("%.40q… of %d octets is %v, want %v", c.ua, len(c.ua), id.Class(), c.class)
		}
		cache := crawler.NewCache(16)
		cache.Identify(m, c.ua[:min(len(c.ua), crawler.MaxUserAgent)], &cached) // the same octets that are read of the longer one
		cache.Identify(m, c.ua, &cached)
		if !slices.Equal(id.Agents(), cached.Agents()) {
			t.Errorf("%.40q…: the matcher finds %v, the cache %v", c.ua, agents(&id), agents(&cached))
		}
	}
}

func TestStrengthOfReasons(t *testing.T) {
	m := crawler.Builtin().Matcher([]string{"quux"})
	for ua, want := range map[string]crawler.Strength{
		"GPTBot/1.2":                     crawler.ByToken,
		"quux/1":                         crawler.ByToken,
		"python-requests/2.31.0":         crawler.ByToken,
		"AcmeBot/1.0":                    crawler.Declaration,
		"Acme/1.0 (+https://a.example)":  crawler.Declaration,
		"Mozilla/5.0 (compatible; Acme)": crawler.Declaration,
		"Google-Extended":                crawler.Declaration,
		"SiteSweeper/2.0":                crawler.ByForm,
		"":                               crawler.ByForm,
		"Mozilla/5.0":                    crawler.ByForm,
		"acme.example.com":               crawler.ByForm,
	} {
		var id crawler.Identity
		m.Identify(ua, &id)
		if got := id.At(0).Reason.Strength(); got != want {
			t.Errorf("%q: strength %v, want %v", ua, got, want)
		}
	}
	if got := crawler.NoReason.Strength(); got != "" {
		t.Errorf("NoReason has strength %q, want none", got)
	}
}
