package enforce

import "runtime"

// Real User-Agents.
const (
	chrome    = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"
	safari    = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1"
	gptbot    = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"
	googlebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	gimage    = "Googlebot-Image/1.0"
	bingbot   = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/116.0.1938.76 Safari/537.36"
	adsbot    = "AdsBot-Google (+http://www.google.com/adsbot.html)"
	chatgpt   = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ChatGPT-User/1.0; +https://openai.com/bot)"
	newbot    = "Mozilla/5.0 (compatible; NewThingBot/0.1; +https://newthing.example/bot)"
	curl      = "curl/8.5.0"
	wget      = "Wget/1.21.3"
	program   = "SiteSweeper/2.0"
	stripe    = "Stripe/1.0 (+https://stripe.com/docs/webhooks)"
)

const site = `User-agent: *
Disallow: /private/
Allow: /private/press/
Crawl-delay: 5

User-agent: Googlebot
Disallow: /no-google/

User-agent: GPTBot
Disallow: /

User-agent: FriendOfTheSite
Disallow: /friends/

User-agent: bingbot
Crawl-delay: 10
`

// heap returns the octets that are in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
