package crawler_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// identify returns "class token" for each agent.
func identify(m *crawler.Matcher, ua string) []string {
	var id crawler.Identity
	m.Identify(ua, &id)
	var out []string
	for _, a := range id.Agents() {
		out = append(out, a.Class.String()+" "+a.Token)
	}
	return out
}

const chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36"

func TestIdentifyTokensAndForms(t *testing.T) {
	base := crawler.Builtin().Matcher(nil)
	for _, c := range []struct {
		behaviour string
		ua        string
		want      []string
	}{
		{"a token of the registry in another case", "Mozilla/5.0 (compatible; GOOGLEBOT/2.1; +http://www.google.com/bot.html)", []string{"crawler Googlebot"}},
		{"the longest token", "Googlebot-Image/1.0", []string{"crawler Googlebot-Image"}},
		{"a token before a hyphen and letters: they are part of the word", "SemrushBot-XYZ/1.0", []string{"self-declared SemrushBot-XYZ"}},
		{"a token as a part of a word", chrome + " Slurpee/1.0", nil},
		{"a token with spaces", "Sogou web spider/4.0(+http://www.sogou.com/docs/help/webmasters.htm#07)", []string{"crawler Sogou web spider"}},
		{"a token with plus signs instead of spaces", "Mozilla/5.0+(compatible;+Sogou+web+spider/4.0)", []string{"crawler Sogou web spider"}},
		{"a crawler after Chrome's User-Agent", chrome + " (compatible; AhrefsSiteAudit/6.1; +http://ahrefs.com/robot/site-audit)", []string{"crawler AhrefsSiteAudit"}},
		{"a crawler without a version or parentheses, after Chrome's User-Agent", chrome + "; Bytespider", []string{"crawler Bytespider"}},
		{"several crawlers", "Googlebot/2.1 bingbot/2.0 AhrefsBot/7.0", []string{"crawler Googlebot", "crawler bingbot", "crawler AhrefsBot"}},
		{"a token after like does not count", "TelegramBot (like TwitterBot)", []string{"user-triggered TelegramBot"}},
		{"a token in a URL does not count", "Acme/1.0 (+https://example.com/googlebot)", []string{"self-declared Acme"}},
		{"a token in a host name does not count", "Acme/1.0 (+www.googlebot.example.com)", []string{"self-declared Acme"}},
		{"a token in an e-mail address does not count", "Acme/1.0 (googlebot@example.com)", []string{"self-declared Acme"}},
		{"a user-triggered fetcher", "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot", []string{"user-triggered ChatGPT-User"}},
		{"an offline browser", "Wget/1.21.4", []string{"scraper Wget"}},
		{"a scraping framework", "Scrapy/2.11.1 (+https://scrapy.org)", []string{"scraper Scrapy"}},
		{"an HTTP library", "python-requests/2.31.0", []string{"library python-requests"}},
		{"no User-Agent", "", []string{"library "}},
		{"only spaces", " \t ", []string{"library "}},

		{"a word that ends in bot", "AcmeBot/1.0", []string{"self-declared AcmeBot"}},
		{"a word that ends in spider", "Mozilla/5.0 (compatible; acmespider; en)", []string{"self-declared acmespider"}},
		{"a word with crawler in the middle", "AcmeCrawlerd/3", []string{"self-declared AcmeCrawlerd"}},
		{"a phrase that ends with a word for a crawler", "Friendly Web Bot 0.2", []string{"self-declared Friendly"}},
		{"a name after compatible", "Mozilla/5.0 (compatible; Acme/1.0)", []string{"self-declared Acme"}},
		{"a contact", "Acme/1.0 (+https://acme.example/about)", []string{"self-declared Acme"}},
		{"an e-mail address", "Acme/1.0 (ops@acme.example)", []string{"self-declared Acme"}},
		{"an e-mail address in words", "Acme 2 (ops at acme dot com)", []string{"self-declared Acme"}},
		{"a contact in a browser's User-Agent", "Mozilla/5.0 (X11; Linux x86_64; Acme; https://acme.example) Gecko/20100101 Firefox/40.1", []string{"self-declared Acme"}},
		{"a name in the KHTML comment", "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; Acme) Chrome/120.0.0.0 Safari/537.36", []string{"self-declared Acme"}},
		{"a word for what crawlers do", "AcmeLinkChecker/2", []string{"self-declared AcmeLinkChecker"}},
		{"a word for what crawlers do, after a browser's User-Agent", chrome + " AcmeMonitor/1.0", []string{"self-declared AcmeMonitor"}},
		{"only a program's name", "Acmeware/3.2", []string{"program Acmeware"}},
		{"a robots.txt token that no crawler sends", "Google-Extended", []string{"self-declared Google-Extended"}},

		{"a device called CUBOT", "Mozilla/5.0 (Linux; Android 9; CUBOT X19) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/86.0.4240.99 Mobile Safari/537.36", nil},
		{"a device called CUBOT outside the comment", "Mozilla/5.0 (Linux; Android 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/86.0.4240.99 Mobile Safari/537.36 Instagram 94.0 Android (28/9; 320dpi; 720x1280; CUBOT; P40; qcom; de_DE)", nil},
		{"a device called Spider", "Mozilla/5.0 (Linux; Android 10; Spider 8 Build/QP1A.190711.020) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/80.0.3987.99 Mobile Safari/537.36", nil},
		{"a device called bot", "Mozilla/5.0 (Linux; U; Android 7.0; xx; M bot 60 Build/NRD90M) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/64.0.3282.137 Mobile Safari/537.36", nil},
		{"a crawler of the registry in place of the device's name", "Mozilla/5.0 (Linux; Android 8.0; Pixel 2 Build/OPD3.170816.012; Storebot-Google/1.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/81.0.4044.138 Mobile Safari/537.36", []string{"crawler Storebot-Google"}},

		{"a browser", chrome, nil},
		{"an app that shows pages", "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [Pinterest/iOS]", nil},
		{"an app with a crawler's name", "WhatsApp/2.23.20.0 Android/13 Device/Samsung-SM-G991B", nil},
		{"a fetcher with a word for a robot in a comment", "Synapse (bot; +https://github.com/matrix-org/synapse)", []string{"user-triggered Synapse (bot"}},
		{"the fetcher with the same name as an app", "WhatsApp/2.23.20.0 A", []string{"user-triggered WhatsApp"}},
		{"an app's home page", "Mozilla/5.0 (iPhone; CPU iPhone OS 16_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Acme/2.0 (https://acme.example)", nil},
		{"an app on an Apple device", "AcmeReader/1 CFNetwork/1410.0.3 Darwin/22.6.0", nil},
		{"an app that fetches with an HTTP library", "Acme/1.0.4 (com.acme.audio; build:5; Android 11; Sdk:30) okhttp/4.9.0", nil},
		{"a player", "Acme/2.0 (Linux;Android 13) ExoPlayerLib/2.18.7", nil},
		{"a feature phone", "LG-GT400/v10a Browser/Teleca-Q7.1 MMS/LG-MMS-V1.0/1.2 Java/ASVM/1.1 Profile/MIDP-2.1 Configuration/CLDC-1.1", nil},
		{"only a device's name", "SAMSUNG-SGH-E700A", nil},
		{"Internet Explorer with another program's address", "Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 5.1; Trident/4.0; SV1; http://example.com)", nil},
		{"another browser than Internet Explorer with the word compatible", "Mozilla/5.0 (compatible; Konqueror/4.1; OpenBSD) KHTML/4.1.4 (like Gecko)", nil},
		{"a word for a crawler after non-ASCII letters, in a device's name", "Mozilla/5.0 (Linux; Android 11; Чертёжbot 5) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/90.0 Mobile Safari/537.36", nil},
		{"octets that are not UTF-8 are part of a word", "Googlebot\xff/2.1 \xfe\xfd", []string{"self-declared Googlebot\xff"}},
	} {
		if got := identify(base, c.ua); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%q is %q, want %q", c.behaviour, c.ua, got, c.want)
		}
	}
}

func TestModernBrowsersArePeople(t *testing.T) {
	m := crawler.Builtin().Matcher(nil)
	for _, ua := range []string{
		chrome,
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36",
		"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:125.0) Gecko/20100101 Firefox/125.0",
		"Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0",
		"Mozilla/5.0 (Android 14; Mobile; rv:125.0) Gecko/125.0 Firefox/125.0",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4.1 Safari/605.1.15",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_4_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4.1 Mobile/15E148 Safari/604.1",
		"Mozilla/5.0 (iPad; CPU OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/124.0.6367.71 Mobile/15E148 Safari/604.1",
		chrome + " Edg/124.0.0.0",
		chrome + " OPR/110.0.0.0",
		chrome + " Vivaldi/6.7.3329.17",
		chrome + " Brave/124",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/122.0.0.0 YaBrowser/24.4.0.0 Safari/537.36",
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Mobile Safari/537.36",
		"Mozilla/5.0 (Linux; Android 13; SAMSUNG SM-S918B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/24.0 Chrome/117.0.0.0 Mobile Safari/537.36",
		"Mozilla/5.0 (Linux; U; Android 12; en-us; Redmi Note 9 Pro Build/SKQ1.211019.001) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/112.0.5615.136 Mobile Safari/537.36 XiaoMi/MiuiBrowser/14.9.1-gn",
		"Mozilla/5.0 (Linux; Android 12; ALN-AL00) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.6099.522 YaSearchBrowser/24.18.1 BroPP/1.0 YaSearchApp/24.18.1 webOmni SA/3 Mobile Safari/537.36",
		"Mozilla/5.0 (Linux; Android 13; Pixel 7 Build/TQ3A.230805.001; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/124.0.6367.82 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/460.0.0.48.109;]",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Instagram 330.0.3.29.109 (iPhone14,5; iOS 17_4; de_DE; de; scale=3.00; 1170x2532; 590719394)",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 MicroMessenger/8.0.49(0x18003127) NetType/WIFI Language/de",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 15_2_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/15.2 Mobile/15E148 Safari/605.1 NAVER(inapp; search; 1000; 11.8.10; 12PRO)",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) GSA/312.0.624898744 Mobile/15E148 Safari/604.1",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Slack/4.37.101 Chrome/122.0.6261.156 Electron/29.2.0 Safari/537.36",
		"Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko",
		"Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/94.0.4606.128 Safari/537.36 WebAppManager",
		"Mozilla/5.0 (SMART-TV; LINUX; Tizen 7.0) AppleWebKit/537.36 (KHTML, like Gecko) 94.0.4606.31/7.0 TV Safari/537.36",
		"Mozilla/5.0 (PlayStation; PlayStation 5/8.60) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.4 Safari/605.1.15",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15 Ddg/17.4",
		"Lynx/2.9.0 libwww-FM/2.14SSL-MM/1.4.1 OpenSSL/3.0.8",
		"w3m/0.5.3+git20230121",
		"Opera/9.80 (Windows NT 6.1; WOW64) Presto/2.12.388 Version/12.18",
	} {
		if got := identify(m, ua); got != nil {
			t.Errorf("%q is %q, want a person", ua, got)
		}
	}
}

func TestIdentifyTokensOfASite(t *testing.T) {
	r := crawler.Builtin()
	m := r.Matcher([]string{"*", "Acme", "Gulper Web Bot", "NewsHound/2.0", "Old Agent 1.5", "Titan", "Spider", "FooBot", "Mozilla", "search", "Internet Explorer", "java", "Googlebot"})
	for _, c := range []struct {
		behaviour string
		ua        string
		want      []string
	}{
		{"a token of the site after a browser's User-Agent", chrome + " Acme/1.0", []string{"named Acme"}},
		{"a token of the site as a part of a word", chrome + " Acmes/1.0", nil},
		{"a token of the site with spaces", "Gulper Web Bot 0.2.4", []string{"named Gulper Web Bot"}},
		{"the file has a version after a slash", "Newshound", []string{"named NewsHound"}},
		{"the file has a version after a space", "Old+Agent/2", []string{"named Old Agent"}},
		{"a crawler of the registry and one of the site", "Googlebot/2.1 acme", []string{"crawler Googlebot", "named Acme"}},
		{"a token of the site in an Android device's name", "Mozilla/5.0 (Linux; Android 12; Titan Pocket) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/90.0 Mobile Safari/537.36", nil},
		{"a word for a crawler in an Android device's name", "Mozilla/5.0 (Linux; Android 10; Spider 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/90.0 Mobile Safari/537.36", nil},
		{"a token of the site with a word for a crawler, in place of the device's name", "Mozilla/5.0 (Linux; Android 10; FooBot/1.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/90.0 Mobile Safari/537.36", []string{"named FooBot"}},
		{"a word of the site that browsers send", chrome, nil},
		{"a word of the site that apps send", "Mozilla/5.0 (iPhone; CPU iPhone OS 11_2_6 like Mac OS X) AppleWebKit/604.5.6 (KHTML, like Gecko) Mobile/15D100 NAVER(inapp; search; 590; 8.8.5; SE)", nil},
		{"a word of the site that telephones send", "Nokia305/2.0 (07.42) Profile/MIDP-2.1 Configuration/CLDC-1.1 UCWEB/2.0 (Java; U; MIDP-2.0; en-US; Nokia305) U2/1.0.0 UCBrowser/9.5 U2/1.0.0 Mobile", nil},
	} {
		if got := identify(m, c.ua); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%q is %q, want %q", c.behaviour, c.ua, got, c.want)
		}
	}
	if got, want := m.Ignored(), []string{"Mozilla", "search", "Internet Explorer"}; !slices.Equal(got, want) {
		t.Errorf("Ignored() = %q, want %q", got, want)
	}
}

func TestSitesWithoutOwnTokensShareOneMatcher(t *testing.T) {
	r := crawler.Builtin()
	if r.Matcher(nil) != r.Matcher([]string{"*", "Googlebot", "gptbot", ""}) {
		t.Error("a site that names only the registry's tokens does not share the base matcher")
	}
	if r.Matcher([]string{"Acme"}) == r.Matcher(nil) {
		t.Error("a site that names another token shares the base matcher")
	}
}

func TestIdentifyReadsAtMostMaxUserAgentOctets(t *testing.T) {
	m := crawler.Builtin().Matcher(nil)
	pad := strings.Repeat("x ", crawler.MaxUserAgent/2)
	for _, c := range []struct {
		behaviour string
		ua        string
		person    bool
	}{
		{"a token before the end", pad[:crawler.MaxUserAgent-10] + "Googlebot ", false},
		{"a browser's, exactly MaxUserAgent octets long", chrome + pad[:crawler.MaxUserAgent-len(chrome)], true},
		{"a browser's, longer than MaxUserAgent octets", chrome + pad, false},
		{"a token at the end, but the word continues after MaxUserAgent octets", chrome + pad[:crawler.MaxUserAgent-len(chrome)-9] + "Googlebot-Unknown", false},
		{"one word of 64 KiB", strings.Repeat("ab", 32<<10), false},
		{"64 KiB of spaces", strings.Repeat(" ", 64<<10), false},
	} {
		var id crawler.Identity
		m.Identify(c.ua, &id)
		if got := id.Class() == crawler.Person; got != c.person {
			t.Errorf("%s: person %v, want %v (%v)", c.behaviour, got, c.person, agents(&id))
		}
		for _, a := range id.Agents() {
			if a.Start < 0 || a.End < a.Start || a.End > crawler.MaxUserAgent {
				t.Errorf("%s: the evidence is octets %d to %d, outside of what is read", c.behaviour, a.Start, a.End)
			}
		}
	}
}

func TestIdentifyYieldsAtMostMaxAgents(t *testing.T) {
	var b strings.Builder
	for c := range crawler.Builtin().All() {
		if len(c.UserAgents) > 0 && b.Len() < 400 {
			b.WriteString(c.UserAgents[0] + "; ")
		}
	}
	var id crawler.Identity
	crawler.Builtin().Matcher(nil).Identify(b.String(), &id)
	if id.Len() != crawler.MaxAgents {
		t.Errorf("%d agents, want %d", id.Len(), crawler.MaxAgents)
	}
}

func TestIdentifyAllocatesNothing(t *testing.T) {
	m := crawler.Builtin().Matcher([]string{"Acme"})
	for _, c := range benchUAs {
		var id crawler.Identity
		if n := testing.AllocsPerRun(100, func() { m.Identify(c.ua, &id) }); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}
