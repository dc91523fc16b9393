package crawler_test

import (
	"fmt"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

func Example() {
	m := crawler.Builtin().Matcher([]string{"*", "AcmeBot"}) // the User-agent values of a site's robots.txt
	cache := crawler.NewCache(10_000)
	for _, ua := range []string{
		"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
		"AcmeBot/2.0",
		"SomeOtherBot/1.0 (+https://example.com/bot)",
		"curl/8.5.0",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:125.0) Gecko/20100101 Firefox/125.0",
	} {
		var id crawler.Identity
		cache.Identify(m, ua, &id)
		fmt.Println(id.Class())
		for _, a := range id.Agents() {
			fmt.Println("\t", a.Token)
		}
	}
	// Output:
	// crawler
	// 	 Googlebot
	// named
	// 	 AcmeBot
	// self-declared
	// 	 SomeOtherBot
	// library
	// 	 curl
	// person
}

func ExampleRegistry_Lookup() {
	c := crawler.Builtin().Lookup("googlebot-image")
	fmt.Println(c.Name, c.Operator, c.Purposes)
	fmt.Println(c.Robots, "obeys *:", c.Star, "honours Crawl-delay:", c.CrawlDelay)
	// Output:
	// Googlebot-Image Google [search]
	// [Googlebot-Image Googlebot] obeys *: yes honours Crawl-delay: no
}

func ExampleRegistry_With() {
	rows, err := crawler.ReadRows([]byte(`
# our own crawlers
{"name": "PriceFinder", "operator": "Acme", "purposes": ["shopping"], "user_agents": ["Acme Price Finder"], "robots": ["pricefinder"]}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := crawler.Builtin().With(rows...)
	if err != nil {
		fmt.Println(err)
		return
	}
	var id crawler.Identity
	r.Matcher(nil).Identify("Acme+Price+Finder/2.0", &id)
	fmt.Println(id.At(0).Crawler.Name, id.At(0).Crawler.Robots)

	_, err = r.With(crawler.Crawler{Name: "Mine", Class: crawler.Registered, UserAgents: []string{"Safari"}, Robots: []string{"mine"}})
	fmt.Println(err)
	// Output:
	// PriceFinder [pricefinder]
	// crawler "Mine": user_agents: browsers send the word "Safari", so people would count as this crawler: write it under "shared", where it counts only if nothing indicates a person
}

func ExampleMatcher_Ignored() {
	m := crawler.Builtin().Matcher([]string{"Mozilla/4.0 (compatible; MSIE 6.0)", "AcmeBot", "Android"})
	fmt.Println(m.Ignored())
	// Output:
	// [Mozilla/4.0 (compatible; MSIE 6.0) Android]
}

func ExampleMatcher_Identify() {
	const ua = "Mozilla/5.0 (compatible; AcmeLinkChecker/2; like Googlebot)"
	var id crawler.Identity
	crawler.Builtin().Matcher(nil).Identify(ua, &id)
	a := id.At(0)
	fmt.Printf("%s %s: %q is %s\n", a.Class, a.Token, ua[a.Start:a.End], a.Reason)
	// Output:
	// self-declared AcmeLinkChecker: "AcmeLinkChecker" is a name after "compatible" that browsers don't send
}
