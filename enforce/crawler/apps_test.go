package crawler_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// What makes a client an app, a system of people or a runtime of apps, counts before its contact.
func TestAppsThatNameAContact(t *testing.T) {
	checkRules(t, people(
		"Overcast/3.0 (+http://overcast.fm/; iOS podcast app)",
		"CarCurious/1.0 (iOS; +https://carcurious.example)",
		"TrailMapper/3.2 (Android 14; +https://trailmapper.example/contact)",
		"TideTable/2.0 (macOS 14.5; tides@tidetable.example)",
		"BirdLog/1.4 (Windows 11; +https://birdlog.example)",
		"PeakFinder/5 (iPadOS 17.4; support@peakfinder.example)",
		"HikeBuddy/0.9 (+https://hikebuddy.example; watchOS 10)",
		"com.example.maps/2.1 (+https://maps.example)",
		"org.example.Weather (weather@example.org)",
		"Kartenblatt/1.0 Flutter (+https://kartenblatt.example)",
		"StreetSketch/4.1 ReactNative +https://streetsketch.example",
		"Reiseplaner/2 (Unity 2022.3; +https://reise.example)",
		"Velo/1.8 (iPhone15,3; iOS 17.5; velo@example.ch)",
		"LibraryApp/6.1 (Android; Pixel 8; +https://library.example)",
		"SkyChart/1.0 (HarmonyOS; +https://sky.example)",
		"MyTunes Radio/2.1 (+https://mytunes.example)",
		"HörBar Podcast Player/1.0 (+https://hoerbar.example)",
		"AntennaPod/3.4.0 (+https://antennapod.org)",
		"gPodder/3.11 (+http://gpodder.org/) Linux",
		"Castro/2024.1 (+https://castro.fm)",
		"TVGuide/9 (tvOS 17; +https://tvguide.example)",
		"Acme/1.0 CFNetwork/1485 Darwin/23.1.0 (+https://acme.example)",
		"Acme/2.0 (Android 13; dev@acme.example) okhttp/4.12.0",
		"StreetComplete/60.0 (+https://streetcomplete.app)",
		"OsmAnd/4.7 (+https://osmand.net)",
		"Organic/1.0 (Sailfish OS 4.5; +https://organic.example)",
		"NotizBuch/3.3 (Macintosh; Intel Mac OS X 14_5; +https://notizbuch.example)",
		"Fotobuch/12 (Windows NT 10.0; Win64; x64; +https://fotobuch.example)",
		"Brettspiel/1.0 (Nintendo Switch; +https://brettspiel.example)",
		"BoxOffice/2.0 (SmartTV; Tizen 7.0; +https://boxoffice.example)",
		"AP/6.48 (iPhone; iOS 15.6; Build 1) 828x1792@2.0x",
		"PocketCasts/7.60 (iPhone; iOS 17.0; +https://pocketcasts.com)",
		chrome+" UltraBlock/6 (https://ultrablock.example)",
		chrome+" Edg/124.0 Readermode (https://readermode.example)",
		"Mozilla/5.0 (X11; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0 PriceHelper/6 (https://price.example; beta)",
	))
	checkRules(t, []ruleCase{
		{"AcmeBot/1.0 (iOS; +https://acme.example)", []string{"self-declared AcmeBot"}},
		{"Acme/1.0 (Linux; +https://acme.example)", []string{"self-declared Acme"}},
		{"Acme/1.0 (iOS; +https://acme.example/bot.html)", []string{"self-declared Acme"}},
		{chrome + " Acme/1.0 (+https://acme.example)", []string{"self-declared https://acme.example"}},
		{chrome + " (https://acme.example)", []string{"self-declared https://acme.example"}},
		{"Acme/1.0 (ops@mail.acme.museum)", []string{"self-declared Acme"}},
		{"Acme/1.0 (ops@acme.xn--p1ai)", []string{"self-declared Acme"}},
		{"Acme/1.0 (cpu i7-8750H@2.20GHz)", []string{"program Acme"}},
		{"Acme/2.0 build@main.js", []string{"program Acme"}},
		{"Acme/2.0 (yarn@1.22.x)", []string{"program Acme"}},
		{"Chef Infra Client/18.2.7 (ruby-3.1.2-p20; ohai-18.1.3; x86_64-linux; +https://chef.io)", []string{"program Chef Infra Client"}},
		{"PocketCasts/1.0 (Pocket Casts Feed Parser; +http://pocketcasts.com/)", []string{"user-triggered Pocket Casts Feed Parser"}},
	})
}

// A word for a crawler makes a name only at the name's end, and in a product's place.
func TestNamesThatEndLikeCrawlers(t *testing.T) {
	for _, ua := range []string{
		"Talbot/1.0", "Verbot/2.0", "Chabot/1.0", "Sonderangebot/2.1", "Rabot", "Crawley/1.0", "SpiderOak/7.5", "SpiderMonkey/115.0", "BotFramework/3.1",
		"ChatBotClient/2.0", `shop {"angebot":12}`, `Acme/1.0 {"items":[{"crawler":null}]}`, "Acme/1.0 isbot=0",
	} {
		if got := identify(crawler.Builtin().Matcher(nil), ua); len(got) != 1 || !strings.HasPrefix(got[0], "program ") {
			t.Errorf("%s is %q, want a program", ua, got)
		}
	}
}

// A group for a name that browsers or apps send applies to nobody.
func TestGroupsForBrowsersAndApps(t *testing.T) {
	const phone = "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) "
	known := map[string]string{ // the linter says so, too
		"OculusBrowser":    "Mozilla/5.0 (X11; Linux x86_64; Quest 3) AppleWebKit/537.36 (KHTML, like Gecko) OculusBrowser/33.0 Chrome/124.0 VR Safari/537.36",
		"Wolvic":           "Mozilla/5.0 (Android 10; Mobile VR; rv:128.0) Gecko/128.0 Firefox/128.0 Wolvic/1.7",
		"NokiaBrowser":     "Mozilla/5.0 (Symbian/3; Series60/5.5 Nokia808/1; Profile/MIDP-2.1) AppleWebKit/535.1 (KHTML, like Gecko) NokiaBrowser/8.3 Mobile Safari/535.1",
		"Norton":           chrome + " Norton/124.0.25037.210",
		"Telegram-Android": "Telegram-Android/11.3.3 (Google Pixel 8; Android 14; SDK 34; HIGH)",
		"Orion":            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15 Orion/0.99",
		"ChatGPT":          "ChatGPT/1.2025.105 (iOS 18.4; iPhone17,1; build 14574)",
		"Mozilla":          chrome,
		"AlexaToolbar":     "Mozilla/5.0 (Windows NT 6.1; rv:52.0) Gecko/20100101 Firefox/52.0 AlexaToolbar/alxg-3.3",
		"YaSearchBrowser":  phone + "Chrome/132.0 YaApp_Android/25.20 YaSearchBrowser/25.20 BroPP/1.0 SA/3 Mobile Safari/537.36",
		"BMID":             chrome + " Edge/18.17763 BMID/E67F75DDBE",
		"Comet":            chrome + " Comet/1.0",
		"LibreWolf":        "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0 LibreWolf/128.0",
		"SonyCEBrowser":    "Opera/9.80 (Linux armv7l) Presto/2.12.407 Version/12.50 SonyCEBrowser/1.0 (DTV13/KDL-RB2; CTV/PKG1.000AAA; USA; xx;)",
		"SAMSUNG-SGH-X120": "SAMSUNG-SGH-X120",
		"Slack":            chrome + " Slack/4.41",
	}
	unknown := map[string]string{
		"Fennelbird":  phone + "Fennelbird/2.1 Chrome/124.0 Mobile Safari/537.36",
		"Quillpad":    "Quillpad/3.1 (iOS 17.4; iPhone15,3; build 145)",
		"Mapperly":    "Mapperly/5.0 (Android 14; Pixel 8)",
		"Trolley":     "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Trolley/4.2",
		"Kornblume":   "Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/124.0 Mobile Safari/537.36 Kornblume/1",
		"Zebrafink":   "Zebrafink/7.2 CFNetwork/1494.0.7 Darwin/23.4.0",
		"Abendrot":    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Abendrot/2.3 Chrome/124.0 Electron/30.1 Safari/537.36",
		"Steinpilz":   "Steinpilz/1.4 (Windows NT 10.0; Win64; x64)",
		"Haselnuss":   "Haselnuss/2.0 (Linux;Android 13) ExoPlayerLib/2.18.7",
		"com.example": "com.example/1.0 (Linux; U; Android 14; en_US; Pixel 8; Build/AP1A; Cronet/124.0)",
		"Fernblick":   "Mozilla/5.0 (SMART-TV; Linux; Tizen 7.0) AppleWebKit/537.36 (KHTML, like Gecko) Fernblick/3 Chrome/94.0 TV Safari/537.36",
		"Radlader":    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Radlader/1.8 Chrome/124.0 Safari/537.36",
		"Sperling":    "Mozilla/5.0 (PlayStation; PlayStation 5/8.60) AppleWebKit/605.1.15 (KHTML, like Gecko) Sperling/1 Version/15.4 Safari/605.1.15",
		"Mauersegler": safariIOS + " Mauersegler/2.7",
		"Heidekraut":  "Heidekraut/2.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15",
	}
	r := crawler.Builtin()
	for token, ua := range known {
		if !r.People(token) {
			t.Errorf("%s is a word of people's clients", token)
		}
		unknown[token] = ua
	}
	for token, ua := range unknown {
		if got := identify(r.Matcher([]string{token, "*"}), ua); got != nil {
			t.Errorf("a group for %s makes %s %q", token, ua, got)
		}
	}
	for ua, token := range map[string]string{
		chrome + " AcmeThing/1.0":                                    "AcmeThing",
		"Mozilla/5.0 AcmeThing/1.0":                                  "AcmeThing",
		"AcmeThing/1.0":                                              "AcmeThing",
		"Mozilla/5.0 (Windows NT 10.0) AcmeThing/1.0":                "AcmeThing",
		androidUA + " (compatible; AcmeThing/1.0)":                   "AcmeThing",
		"AcmeThing/1.0 (Linux; +https://acme.example)":               "AcmeThing",
		androidUA + " AcmeBot/1.0":                                   "AcmeBot",
		"Mozilla/5.0 (KHTML, like Gecko; AcmeThing; +https://a.bc/)": "AcmeThing",
	} {
		if got := identify(r.Matcher([]string{token}), ua); !slices.Equal(got, []string{"named " + token}) {
			t.Errorf("a group for %s makes %s %q", token, ua, got)
		}
	}
}

// A window of Electron is a person's unless the program crawls. A URL is a token in each spelling. Software that a crawler is based on is none.
func TestWindowsURLsAndSoftware(t *testing.T) {
	electron := func(name string) string {
		return "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) " + name + "/1.15.12 Chrome/146.0.0.0 Electron/41.2.1 Safari/537.36"
	}
	checkRules(t, people(electron("OpenCode"), electron("Superhuman"), electron("GitHubCopilotChat"), electron("Slack")))
	cases := []ruleCase{
		{electron("ParseHub"), []string{"crawler ParseHub"}},
		{electron("Sitebulb"), []string{"crawler Sitebulb"}},
		{"opencode/1.15.12", []string{"user-triggered opencode"}},
		{"Barkrowler/0.5.1 (http://www.exensa.com/crawl) -- based on BUbiNG", []string{"crawler Barkrowler"}},
		{"Barkrowler/0.9 (powered by the BUbiNG crawler)", []string{"crawler Barkrowler"}},
		{"Barkrowler/0.9 BUbiNG", []string{"crawler Barkrowler", "crawler BUbiNG"}},
		{"Mozilla/5.0 (compatible; Googlebot/2.1; https://deepcrawl.com.example/bot)", []string{"crawler Googlebot"}},
		{"Mozilla/5.0 (compatible; Googlebot/2.1; https://deepcrawl.com/bots)", []string{"crawler Googlebot"}},
		{"Mozilla/5.0 (compatible; Googlebot/2.1; https://x.example/deepcrawl.com/bot)", []string{"crawler Googlebot"}},
	}
	for _, url := range []string{"https://deepcrawl.com/bot", "http://www.deepcrawl.com/bot/", "+HTTPS://WWW.DeepCrawl.com/bot", "www.deepcrawl.com/bot", "deepcrawl.com/bot"} {
		cases = append(cases, ruleCase{"Mozilla/5.0 (compatible; Googlebot/2.1; " + url + ")", []string{"crawler Googlebot", "crawler https://www.deepcrawl.com/bot"}})
	}
	for _, url := range []string{"https://uptime.com", "http://www.uptime.com/", "https://www.uptime.com"} {
		cases = append(cases, ruleCase{chrome + " (" + url + ")", []string{"probe https://uptime.com"}})
	}
	checkRules(t, cases)
}
