package fake

// Real User-Agents.
const (
	Chrome    = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"
	Safari    = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1"
	Gptbot    = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"
	Googlebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	Gimage    = "Googlebot-Image/1.0"
	Bingbot   = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/116.0.1938.76 Safari/537.36"
	Adsbot    = "AdsBot-Google (+http://www.google.com/adsbot.html)"
	Chatgpt   = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ChatGPT-User/1.0; +https://openai.com/bot)"
	Newbot    = "Mozilla/5.0 (compatible; NewThingBot/0.1; +https://newthing.example/bot)"
	Curl      = "curl/8.5.0"
	Wget      = "Wget/1.21.3"
	Program   = "SiteSweeper/2.0"
	Stripe    = "Stripe/1.0 (+https://stripe.com/docs/webhooks)"
)

const Site = `User-agent: *
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

// Agents are User-Agents by a short name.
var Agents = map[string]string{
	"chrome": Chrome, "safari": Safari, "gptbot": Gptbot, "googlebot": Googlebot, "googlebot-image": Gimage, "bingbot": Bingbot,
	"ccbot": "CCBot/2.0 (https://commoncrawl.org/faq/)", "bytespider": "Mozilla/5.0 (compatible; Bytespider; spider-feedback@bytedance.com)",
	"ahrefs": "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
	"adsbot": Adsbot, "chatgpt-user": Chatgpt, "newbot": Newbot, "curl": Curl, "wget": Wget, "program": Program, "stripe": Stripe,
}
