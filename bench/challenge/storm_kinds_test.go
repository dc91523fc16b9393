package challenge

import (
	"fmt"
	"net/http"
	"time"
)

// stormer sends what client number n of a storm sends, and returns the number of its
// requests. path is the page that it wants.
type stormer func(a *arena, v *visitor, n int, path string) (requests int)

func once(a *arena, v *visitor, _ int, path string) int { _, _ = v.open(path); return 1 }

// with sends further header lines.
func with(fields string) stormer {
	return func(_ *arena, v *visitor, _ int, path string) int {
		v.fields = fields
		return once(nil, v, 0, path)
	}
}

// as sends another User-Agent.
func as(agent string) stormer {
	return func(_ *arena, v *visitor, _ int, path string) int {
		v.agent, v.fields = agent, libraryFields
		return once(nil, v, 0, path)
	}
}

// fetching sends a style sheet's request after the page, like a robot that drives a browser.
func fetching(target string) stormer {
	return func(_ *arena, v *visitor, _ int, path string) int {
		_, _ = v.open(path)
		_, _ = v.send(http.MethodGet, target, styleFields)
		return 1
	}
}

// by sends another method, with further header lines.
func by(method, fields string) stormer {
	return func(_ *arena, v *visitor, _ int, path string) int {
		_, _ = v.send(method, path, fields)
		return 1
	}
}

// bound is how many requests of a storm may reach the back end in a time after onAfter,
// beside 2 %.
type bound func(over int, window, length time.Duration) float64

// named is the bound of the name of a crawler.
func named(over int, window, length time.Duration) float64 {
	return float64(over) + float64(over)*length.Seconds()/window.Seconds()
}

// onePass is the bound of a pass.
func onePass(_ int, _, length time.Duration) float64 { return 120 + length.Seconds() }

// cohort is the bound of one User-Agent that fetches style sheets: it is known after that time.
func cohort(int, time.Duration, time.Duration) float64 { return 75 * float64(stormRate) }

// unheld is that of what nothing holds: what a browser does for each page, and a style sheet
// with each page under many browsers' names.
func unheld(int, time.Duration, time.Duration) float64 { return 1e9 }

// kinds are the storms. Beside those that have a bound, ten strangers a second keep the
// check on.
var kinds = []struct {
	name  string
	bound bound
	run   stormer
}{
	{"chrome", nil, once},
	{"library", nil, with(libraryFields)},
	{"cookies", nil, func(_ *arena, v *visitor, _ int, path string) int { // kept, and redirects followed
		a, _ := v.open(path)
		if to := a.header.Get("Location"); to != "" {
			_, _ = v.open(to)
			return 2
		}
		_, _ = v.open(path)
		return 2
	}},
	{"open", nil, func(_ *arena, v *visitor, _ int, path string) int { // followed without the style sheet
		a, _ := v.open(path)
		to := opened(path, a.body)
		if to == "" {
			return 1
		}
		if a, _ = v.open(to); a.header.Get("Location") != "" {
			_, _ = v.open(a.header.Get("Location"))
			return 3
		}
		return 2
	}},
	{"forged", nil, func(_ *arena, v *visitor, n int, path string) int {
		v.cookie = fmt.Sprintf("session=1; caddy-robots-pass=%042d; __Host-caddy-robots-pass=%042d", n, n)
		return once(nil, v, n, path)
	}},
	{"referer", nil, with(chromeFields + "Referer: http://referer.with.test/\r\n")},
	{"token", nil, func(a *arena, v *visitor, n int, path string) int { // of one client, sent by all others
		text := a.token.Load()
		if text == nil {
			p, _ := v.open(path)
			if to := link(styleLink, "", p.body); to != "" {
				a.token.CompareAndSwap(nil, &to)
			}
			return 1
		}
		_, _ = v.send(http.MethodGet, path+*text, styleFields)
		_, _ = v.open(path + *text)
		_, _ = v.open(path)
		return 3
	}},
	{"authorization", nil, with(chromeFields + "Authorization: Bearer x\r\n")},
	{"image", nil, with(imageFields)},
	{"empty", nil, with("Accept: */*\r\nSec-Fetch-Dest: empty\r\n")},
	{"prefetch", nil, with(chromeFields + "Sec-Purpose: prefetch\r\n")},
	{"upgrade", nil, with(chromeFields + "Upgrade: x\r\n")},
	{"accept", nil, with("Accept: image/*\r\n")},
	{"range", nil, with(chromeFields + "Range: bytes=0-\r\n")},
	{"app", nil, as("Site/3.1 CFNetwork/1410 Darwin/22.6.0")},
	{"curl", nil, as("curl/8.5.0")},
	{"lynx", nil, as("Lynx/2.9.0dev.12 libwww-FM/2.14 SSL-MM/1.4.1")},
	{"msie", nil, as("Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1)")},
	{"head", nil, by(http.MethodHead, chromeFields)},
	{"propfind", nil, by("PROPFIND", chromeFields)},
	{"post", nil, by(http.MethodPost, chromeFields+"Cookie: a=b\r\n")},
	{"favicon", nil, fetching("/favicon.ico")},
	{"style", cohort, fetching("/style.css")},
	{"styles", unheld, func(a *arena, v *visitor, n int, path string) int { // under many browsers' names
		v.agent = fmt.Sprintf("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Safari/537.36", 100+n%40)
		return fetching("/style.css")(a, v, n, path)
	}},
	{"googlebot", named, as("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)")},
	{"one_pass", onePass, func(a *arena, v *visitor, n int, path string) int { // of one client, sent by all others
		if first := a.pass.Load(); first != nil {
			v.cookie = first.cookie
		} else if _, _, err := v.browse(path); err == nil && v.cookie != "" && a.pass.CompareAndSwap(nil, v) {
			return 2
		}
		return once(nil, v, n, path)
	}},
	{"many_passes", unheld, func(a *arena, v *visitor, n int, path string) int { // each used once, from one address
		v.from = address(1 << 17)
		_, _, _ = v.browse(path)
		return 1
	}},
}

// public are the clients of a site besides its people, and the pages that they get.
var public = []struct{ agent, fields, target string }{
	{stormAgent, chromeFields, "/"},
	{stormAgent, chromeFields, "/search?q=a"},
	{"Feedly/1.0 (+http://www.feedly.com/fetcher.html; like FeedFetcher-Google)", libraryFields, "/feed.xml"},
	{"Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)", libraryFields, "/issues/1"},
	{"git/2.47.1", libraryFields, "/project.git/info/refs?service=git-upload-pack"},
	{"GitLab-Runner/17.0", libraryFields, "/api/v4/jobs/request"},
	{"curl/8.5.0", libraryFields, "/releases/a.tar.gz"},
	{"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", libraryFields, "/articles/1"},
}
