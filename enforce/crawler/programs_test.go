package crawler_test

import (
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

func TestWordsOfProgramsAloneYieldAProgram(t *testing.T) {
	checkRules(t, []ruleCase{
		{"acme-agent", []string{"program acme-agent"}},
		{"AcmeDownloader/1.2 R 9I/Q", []string{"program AcmeDownloader"}},
		{"Acme-Delivery-Optimization/10.0", []string{"program Acme-Delivery-Optimization"}},
		{"Acme Sync Service/3.1", []string{"program Acme"}},
		{"AcmeFeedReader/0.9", []string{"program AcmeFeedReader"}},
		{"Acme Cloud Connector", []string{"program Acme"}},
		// whatever digits the name has
		{"Zed9/1.0", []string{"program Zed9"}},
		{"x1/1", []string{"program x1"}},
		{"abc2/1.0", []string{"program abc2"}},
		{"7z/v24.09", []string{"program 7z"}},
		{"Zed9/1.0-beta+3", []string{"program Zed9"}},
		{"Acme-A877/2.1", nil}, // a device
		{"GT-I9100 2.3", nil},  // a device
		{"Zed9/1.0 (A877)", nil},
		{"A877/1.0/2", nil},
		{"12/1.0", nil},
		// with a word that is more likely a crawler's, or with a contact, they are crawlers
		{"AcmeSearchEngine/1.0", []string{"self-declared AcmeSearchEngine"}},
		{"acme-sitemap-generator", []string{"self-declared acme-sitemap-generator"}},
		{"Acme Agent for SEO", []string{"self-declared Acme"}},
		{"AcmeFeedFetcher/1.0", []string{"self-declared AcmeFeedFetcher"}},
		{"AcmeAgent/1.0 (+https://acme.example)", []string{"self-declared AcmeAgent"}},
		// with the operating system of a person they are apps
		{"AcmeSync/1.0 (Windows NT 10.0; Win64; x64)", nil},
		{"Acme Desktop Agent/3.1 (Macintosh; Intel Mac OS X 14_4)", nil},
	})
}

func TestDesktopProgramsThatStateAnEngineOrASystem(t *testing.T) {
	checkRules(t, []ruleCase{
		{"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.21 (KHTML, like Gecko) acmeshot Safari/537.21", []string{"program acmeshot"}},
		{"Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/534.34 (KHTML, like Gecko) Acmeware Safari/534.34", []string{"program Acmeware"}},
		{"Mozilla/5.0 (X11; Linux) AppleWebKit/534.34 (KHTML, like Gecko) AcmeCarBrowser Safari/534.34", nil},
		{"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.21 (KHTML, like Gecko) Acmeware/1.3 Safari/537.21", nil}, // a browser with its version
		{"Mozilla/5.0 (Linux; Android 4.4; X9) AppleWebKit/537.36 (KHTML, like Gecko) Acmeware Safari/537.36", nil},
		{"Acmewriter 2013 (15.0.4797) Windows NT 10.0", []string{"program Acmewriter"}},
		{"AcmeTool/1.0 Microsoft Windows NT 6.2.9200.0", []string{"program AcmeTool"}},
		{"Acmewriter/16.4 (Windows NT 10.0; Acmewriter 16.0.17425; Pro)", nil},
		{"Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1", nil},
		{"Acme Phone/1.0 Windows Phone 10.0", nil},
		{"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)", nil}, // a privacy tool removed the rest
		{"Mozilla/5.0 (Macintosh; Intel Mac OS X) Acmewriter/14.25.0", []string{"program Acmewriter"}},
	})
}

func TestNamesAfterSafari(t *testing.T) {
	const mac = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)" + engine
	checkRules(t, []ruleCase{
		{mac + "; Acme-User/1.0", nil}, // programs on people's computers add their name to the browser's
		{mac + "; Acmeware", nil},
		{mac + " Acmeware", nil},
		{mac + " Acmeware/1.0", nil},
		{mac + " Acme Game Client", nil}, // a game that shows pages
		{mac + "; AcmeInfo: 3158:acme", nil},
		{androidUA + "; Acmeware/1.0", nil},
	})
}

func TestVersionPlaceholdersAndAttachedVersions(t *testing.T) {
	checkRules(t, []ruleCase{
		{"Mozilla/5.0 (platform; rv:geckoversion) Gecko/geckotrail Firefox/firefoxversion", []string{"program Mozilla"}},
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/W.X.Y.Z Safari/537.36", []string{"program Mozilla"}},
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/xxx.x Safari/537.36", nil}, // a privacy tool removed the rest
		{"Mozilla/5.0 (BB10; Touch) AppleWebKit/BB10 (KHTML, like Gecko) Version/BB10 Mobile Safari/BB10", nil},
		{"Java1.8.0_151", []string{"library Java"}},
		{"Acmeware2.1", []string{"program Acmeware2"}},
		{"Acme830", nil}, // a device
	})
}

func TestNamesAfterBareMozilla(t *testing.T) {
	checkRules(t, []ruleCase{
		{"Mozilla/5.0 Acmeware/1.0", []string{"self-declared Acmeware"}},
		{"Mozilla/5.0 (Acmeware/1.0)", []string{"program Acmeware"}},
		// old browsers
		{"Mozilla/5.0 (AC01L;FOO;like Gecko)", nil},
		{"Mozilla/5.0 (Java; U; Pt-br; acme-e63) Acmeware8.2.0.132/69/444/ACME Mobile UNTRUSTED/1.0", nil},
	})
}

func TestDevicesWithoutAnOperatingSystem(t *testing.T) {
	checkRules(t, people(
		"ACME-SGH-A877",
		"ACMECORP-MT-C5220-Orange/1.0",
		"Acme;TV1;756a522d9f1648b89e76e80be654456a;;3.202.356",
		"A/7.1.2/unknown/TPS320/arm8909/unknown/QCX3/l0/-/-/7471894",
		"aPod",
		"Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 (KHTML, like Gecko) Safari/537.36 LG NetCast.TV-2013 Compatible (ACME, 43UF, wireless)",
		"HbbTV/1.1.1 (;;;;) Mozilla/5.0 (compatible; Acmegalio/3.0.2.1.22; Linux2.6.18-7.1/7405d0-smp)",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS;FBDV/iPhone14,5;FBCR/Robot Mobile;FBID/phone]",
		"Mozilla/5.0 (Linux; Android 13; X9; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/124.0.0.0 Mobile Safari/537.36 [AcmeApp/3;CARRIER/Spider]",
	))
	checkRules(t, []ruleCase{
		{"acme-V2024", []string{"program acme-V2024"}}, // a version
		{"AcmeBot-A877", []string{"self-declared AcmeBot-A877"}},
		{"Mozilla/5.0 (compatible; Acmegalio/3.0.2; Linux)", []string{"self-declared Acmegalio"}},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1 [GPTBot]", []string{"crawler GPTBot"}},
	})
}

func TestContactsAndOtherAddresses(t *testing.T) {
	checkRules(t, []ruleCase{
		{ieXP + "; SV1;  http://www.acme.example/bot.html )", []string{"self-declared http://www.acme.example/bot.html"}},
		{ieXP + "; .NET CLR 2.0.50727; http://acme.example/about/crawlers/)", []string{"self-declared http://acme.example/about/crawlers/"}},
		{ieXP + "; SV1; http://bot.example/toolbar)", nil},
		{"acme('a.src='https://acme.example/a'')", []string{"program acme"}}, // the URL is part of a script, not a contact
		{"Acmeware/1.0 (https://acme.example)", []string{"self-declared Acmeware"}},
		{"Acmewave/1.0 (http://acmewave.fm/)", nil},
		{"Acmewave/1.0 (+http://acmewave.fm/)", []string{"self-declared Acmewave"}},
		{"com.acme (ops@acme.example)", nil},
		{"com.acme.reader/1.0 (https://acme.example)", nil},
	})
}

func TestTokensThatAppsSendToo(t *testing.T) {
	checkRules(t, []ruleCase{
		{"Acme Uptime Monitor", []string{"self-declared Acme"}},
		{"Uptime/1.0", []string{"probe Uptime"}},
		{"SuperBot/4.4.0.0 (Windows XP)", []string{"scraper SuperBot"}}, // the token has a word for a crawler, so it counts
	})
}

func TestDeclaresRobot(t *testing.T) {
	for ua, want := range map[string]bool{
		"AcmeBot/1.0":                                        true,
		"acme_spider":                                        true,
		"Acme Crawler":                                       true,
		"Acme/1.0 (+http://acme.example)":                    true,
		"Acme/1.0 (+www.acme.example)":                       true,
		"Mozilla/5.0 (compatible; Acme/1.0)":                 true,
		"Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1)": false,
		"Mozilla/5.0 (compatible; Konqueror3.5; Linux)":      false,
		"Acme/1.0 (http://acme.example/bot)":                 false,
		"Acme/1.0 (bot@acme.example)":                        false,
		"Acme (like AcmeBot)":                                false,
		"Chatbot/42 CFNetwork/1485 Darwin/23.1.0":            false,
		"Bottle/0.12":                                        false,
		chrome:                                               false,
		"":                                                   false,
	} {
		if got := crawler.DeclaresRobot(ua); got != want {
			t.Errorf("DeclaresRobot(%q) = %v, want %v", ua, got, want)
		}
	}
}

func TestProbesByTheirForm(t *testing.T) {
	checkRules(t, []ruleCase{
		{"Acme-HealthCheck/1.0", []string{"probe Acme-HealthCheck"}},
		{"acme.example-health-checker", []string{"probe acme.example-health-checker"}},
		{"acme-probe/2.1 (https://acme.example/probes)", []string{"probe acme-probe"}},
		{"HealthCheck/1.0", []string{"probe HealthCheck"}},
		{"Acme-HealthCheck-Bot/1.0", []string{"self-declared Acme-HealthCheck-Bot"}},
		{"acme-probe/1.0 (crawler)", []string{"self-declared crawler"}},
		{"BotProbe/1.0", []string{"self-declared BotProbe"}},
		{"Acme/1.0 healthcheck", []string{"self-declared healthcheck"}}, // not the first product
		{"Mozilla/5.0 (compatible; Acme-HealthCheck/1.0)", []string{"self-declared Acme-HealthCheck"}},
		{"Acme-Probe/1.0 CFNetwork/1410 Darwin/22.4", nil}, // an app
		{"Mozilla/5.0 (compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)", []string{"probe UptimeRobot"}},
	})
}
