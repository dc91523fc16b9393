package suggest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// The clients of the logs.
const (
	gptbot    = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"
	claudebot = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)"
	ahrefs    = "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)"
	googlebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	spider    = "ExampleSpider/1.0 (+https://example.org/spider)"
	firefox   = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
)

// flow is what one kind of client requests.
type flow struct {
	agent   string
	perDay  int
	from    int     // number of addresses
	seconds float64 // that a request takes
	landing bool    // people come from a search engine
	burst   bool    // all requests of a day come within minutes
	targets []string
}

// culprit returns the flow of a robot that costs much.
func culprit(agent string, perDay int, seconds float64, targets ...string) flow {
	return flow{agent: agent, perDay: perDay, from: 60, seconds: seconds, targets: targets}
}

// visitors returns the flows of people and of a search engine. Each target has # in
// place of a number.
func visitors(pages ...string) []flow {
	return []flow{
		{agent: firefox, perDay: 300, from: 200, seconds: 0.05, landing: true, targets: pages},
		{agent: firefox, perDay: 200, from: 200, seconds: 0.05, targets: append([]string{"/"}, pages...)},
		{agent: googlebot, perDay: 100, from: 10, seconds: 0.05, targets: append([]string{"/", "/robots.txt"}, pages...)},
	}
}

// write returns a log of Caddy with flows over some days.
func write(days int, flows ...flow) []byte {
	random := rand.New(rand.NewPCG(5, 6))
	type line struct {
		at   time.Time
		text string
	}
	var lines []line
	begin := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for n, f := range flows {
		for range days * f.perDay {
			at := begin.Add(time.Duration(random.Int64N(int64(days) * int64(24*time.Hour))))
			if f.burst {
				at = at.Truncate(24 * time.Hour).Add(time.Duration(random.Int64N(int64(5 * time.Minute))))
			}
			target := strings.ReplaceAll(f.targets[random.IntN(len(f.targets))], "#", fmt.Sprint(random.IntN(5000)))
			referer := ""
			if f.landing {
				referer = `"Referer":["https://www.google.com/"],`
			}
			lines = append(lines, line{at, fmt.Sprintf(`{"ts":%.6f,"logger":"http.log.access","request":{"client_ip":"198.51.%d.%d","method":"GET","host":"example.com","uri":%q,"headers":{%s"User-Agent":[%q]}},"duration":%g,"size":%d,"status":200}`,
				float64(at.UnixMicro())/1e6, n, random.IntN(f.from), target, referer, f.agent, f.seconds*(0.5+random.Float64()), 5000)})
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.at.UnixNano(), b.at.UnixNano()) })
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text + "\n")
	}
	return []byte(b.String())
}

// culprits are logs with known robots that cost much, by the software of the site.
var culprits = map[string][]flow{
	"Forgejo or Gitea": append(visitors("/ann/app", "/ann/app/issues/#", "/ann/app/src/branch/main/file#.go", "/explore/repos", "/user/login", "/ann/app/commit/aa#"),
		culprit(gptbot, 900, 1, "/ann/app/blame/branch/main/file#.go", "/bob/lib/blame/branch/main/file#.go"),
		culprit(claudebot, 700, 1, "/ann/app/src/commit/ab#/main.go", "/ann/app/archive/v#.zip"),
		culprit(ahrefs, 400, 1, "/ann/app/compare/ab#...main", "/bob/lib/commits/branch/main/x#"),
		culprit(spider, 800, 1, "/ann/app/commits/commit/ab#", "/ann/app/raw/commit/ab#/x"),
	),
	"MediaWiki": append(visitors("/wiki/Page_#", "/index.php?title=Page_#", "/load.php?modules=a"),
		culprit(gptbot, 900, 1, "/index.php?title=Page_#&oldid=#", "/index.php?title=Page&diff=#&oldid=#"),
		culprit(ahrefs, 600, 1, "/index.php?title=Page_#&action=history", "/wiki/Special:RecentChangesLinked/Page_#"),
		culprit(spider, 900, 1, "/index.php?title=Page_#&diff=#&oldid=#"),
	),
	"DSpace": append(visitors("/items/ab#", "/handle/12/#", "/communities/ab#", "/bitstreams/ab#/download"),
		culprit(gptbot, 800, 1, "/search?query=x#&f.author=y#", "/browse/author?value=x#"),
		culprit(claudebot, 800, 1, "/server/api/discover/facets/author?query=#"),
		culprit(spider, 900, 1, "/search?f.subject=x#&sort=y", "/communities/ab#/browse/title?x=#"),
	),
	"WooCommerce": append(visitors("/product/name-#/", "/shop/", "/cart/", "/?wc-ajax=get_refreshed_fragments"),
		culprit(gptbot, 900, 1, "/shop/?add-to-cart=#", "/shop/?orderby=price&filter_color=x#"),
		culprit(ahrefs, 700, 1, "/shop/?filter_size=#&orderby=date"),
		culprit(spider, 900, 1, "/shop/?min_price=#&max_price=#", "/product/name-#/?add-to-cart=#"),
	),
	"cgit": append(visitors("/app/", "/app/tree/main.c", "/app/about/", "/cgit.css"),
		culprit(gptbot, 900, 1, "/app/blame/file#.c", "/app/diff/?id=ab#"),
		culprit(claudebot, 600, 1, "/app/snapshot/app-#.tar.gz", "/lib/patch/?id=ab#"),
		culprit(spider, 900, 1, "/app/plain/file#.c?id=ab#", "/lib/commit/?id=ab#"),
	),
}
