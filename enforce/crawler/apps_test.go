package crawler_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

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
	r := crawler.Builtin()
	for _, row := range rows(t, "groups.tsv", 3) {
		token, ua, want := row[0], row[1], row[2]
		want, known := strings.CutSuffix(want, ", known")
		if known && !r.People(token) {
			t.Errorf("%s is a word of people's clients", token)
		}
		if got := cmp.Or(strings.Join(identify(r.Matcher([]string{token, "*"}), ua), ", "), "nobody"); got != want {
			t.Errorf("a group for %s makes %s %s, want %s", token, ua, got, want)
		}
	}
}

// A window of Electron is a person's unless the program crawls. A URL is a token in each spelling. Software that a crawler is based on is none.
func TestWindowsURLsAndSoftware(t *testing.T) {
	electron := func(name string) string {
		return "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) " + name + "/1.15.12 Chrome/146.0.0.0 Electron/41.2.1 Safari/537.36"
	}
	cases := []ruleCase{
		{electron("OpenCode"), nil}, {electron("Superhuman"), nil}, {electron("GitHubCopilotChat"), nil}, {electron("Slack"), nil},
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
