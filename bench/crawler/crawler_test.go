package crawler

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	mileusna "github.com/mileusna/useragent"
	mssola "github.com/mssola/useragent"
	"github.com/ua-parser/uap-go/uaparser"
	"github.com/x-way/crawlerdetect"
)

// libraries returns the compared libraries.
func libraries(tb testing.TB) []library {
	m := crawler.Builtin().Matcher(nil)
	cache := crawler.NewCache(1 << 12)
	uap, err := uaparser.New()
	if err != nil {
		tb.Fatal(err)
	}
	detect := crawlerdetect.New()
	var id crawler.Identity
	return []library{
		{"caddy-robots", func(ua string) bool { m.Identify(ua, &id); return id.Class() != crawler.Person }},
		{"caddy-robots seen before", func(ua string) bool { cache.Identify(m, ua, &id); return id.Class() != crawler.Person }},
		{"mssola", func(ua string) bool { return mssola.New(ua).Bot() }},
		{"mileusna", func(ua string) bool { return mileusna.Parse(ua).Bot }},
		// It has a device family "Spider" for crawlers, and its own cache, which the benchmark fills.
		{"uap-go seen before", func(ua string) bool { return uap.ParseDevice(ua).Family == "Spider" }},
		{"crawlerdetect", detect.IsCrawler},
	}
}

type library struct {
	name    string
	crawler func(ua string) bool
}

var userAgents = []struct{ name, ua string }{
	{"browser", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36 Edg/124.0"},
	{"phone", "Mozilla/5.0 (Linux; Android 13; SM-S918B Build/TP1A.220624.014; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/124.0.6367.82 Mobile Safari/537.36"},
	{"Googlebot", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"},
	{"GPTBot", "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"},
	{"curl", "curl/8.5.0"},
	{"64 KB", "Mozilla/5.0 (" + strings.Repeat("Acme; ", 64<<10/6) + ")"},
}

func Benchmark(b *testing.B) {
	for _, l := range libraries(b) {
		for _, c := range userAgents {
			b.Run(l.name+"/"+c.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					l.crawler(c.ua)
				}
			})
		}
	}
}

// TestLists prints the share of User-Agents in each list that each library takes
// for crawlers. The plugin must find the most crawlers.
func TestLists(t *testing.T) {
	dir := os.Getenv("ROBOTS_CORPUS")
	if dir == "" {
		t.Log("ROBOTS_CORPUS is not set: nothing to measure")
		return
	}
	share := map[string]map[string]float64{}
	for _, file := range []string{"bots", "browsers", "apps"} {
		data, err := os.ReadFile(filepath.Join(dir, "useragents-"+file+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		share[file] = map[string]float64{}
		lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
		for _, l := range libraries(t) {
			n := 0
			for _, line := range lines {
				if ua, _, _ := strings.Cut(line, "\t"); l.crawler(ua) {
					n++
				}
			}
			share[file][l.name] = float64(n) / float64(len(lines))
			t.Logf("%-9s %-25s %6d of %d: %6.2f %%", file, l.name, n, len(lines), 100*share[file][l.name])
		}
	}
	for _, l := range libraries(t)[2:] {
		if share["bots"][l.name] >= share["bots"]["caddy-robots"] {
			t.Errorf("%s finds more crawlers: %.4f, ours %.4f", l.name, share["bots"][l.name], share["bots"]["caddy-robots"])
		}
	}
}
