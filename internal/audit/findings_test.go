package audit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

// requestsOf returns lines of a log: n requests within the minutes from a time of day,
// evenly distributed.
func requestsOf(n int, agent, path string, hour, minute, minutes int) string {
	var b strings.Builder
	for i := range n {
		s := (hour*60+minute)*60 + i*minutes*60/n
		fmt.Fprintf(&b, "192.0.2.1 - - [07/Nov/2026:%02d:%02d:%02d +0000] \"GET %s HTTP/1.1\" 200 5 \"-\" %q\n", s/3600, s/60%60, s%60, path, agent)
	}
	return b.String()
}

const (
	bytespider = "Mozilla/5.0 (compatible; Bytespider; https://zhanzhang.toutiao.com/)"
	googlebot  = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	ahrefs     = "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)"
)

// Each finding says what it is, what to change, and the text to paste.
func TestFindings(t *testing.T) {
	for _, tt := range []struct {
		name, robots, log string
		code              string
		text, change      string // parts of them
		paste             string
	}{
		{"the half hour with most requests of one crawler", "User-agent: *\nDisallow: /private/\n",
			requestsOf(1000, ahrefs, "/", 1, 0, 300) + requestsOf(1200, bytespider, "/", 9, 30, 30) + requestsOf(400, bytespider, "/", 10, 0, 30), "worst_half_hour",
			"began on 7 November 2026 at 09:30 UTC: Bytespider sent 1,200 requests, 40 a minute.", "Limit each crawler to 30 requests a minute", "limit {\n\teach 30/1m\n}"},
		{"robots.txt refuses most of them already", "User-agent: Bytespider\nDisallow: /\n", requestsOf(1200, bytespider, "/", 9, 30, 30), "worst_half_hour",
			"Bytespider sent 1,200 requests, 40 a minute.", "Enforce the rules as they are", ""},
		{"a pace that harms nobody", "User-agent: *\nDisallow: /private/\n", requestsOf(900, bytespider, "/", 9, 30, 30), "worst_half_hour", "No flood under a robot's name: none sent more than 900 requests in half an hour.", "", ""},
		{"a search engine is not limited", "User-agent: *\nDisallow: /private/\n", requestsOf(1200, googlebot, "/", 9, 30, 30), "worst_half_hour", "Googlebot sent 1,200", "tools for webmasters", ""},
		{"nor are advertisements, which a limit does not hold", "User-agent: *\nDisallow: /private/\n", requestsOf(1200, "AdsBot-Google (+http://www.google.com/adsbot.html)", "/", 9, 30, 30), "worst_half_hour", "AdsBot-Google sent 1,200", "Do not refuse it", ""},
		{"nor is a library, which may be a client of an API", "User-agent: *\nDisallow: /private/\n", requestsOf(1200, "python-requests/2.31", "/", 9, 30, 30), "worst_half_hour", "python-requests sent 1,200", "Find out who it is", ""},
		{"nor is a probe, which is never the worst", "User-agent: *\nDisallow: /private/\n", requestsOf(1200, "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)", "/", 9, 30, 30) + requestsOf(3, bytespider, "/", 9, 30, 1), "worst_half_hour", "none sent more than 3 requests in half an hour", "", ""},
		{"no robots", "User-agent: *\nDisallow: /private/\n", requestsOf(3, "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "/", 9, 30, 1), "worst_half_hour", "none came.", "", ""},

		{"search engines that only claim to be one", "User-agent: *\nDisallow: /private/\n", requestsOf(5, googlebot, "/private/a", 9, 0, 5) + requestsOf(2, googlebot, "/", 9, 10, 5), "search_refused",
			"5 of Googlebot (0 verified); by line 2 of robots.txt: Disallow: /private/: 5.", "run this command again with --verify", ""},
		{"a group that names the search engine", "User-agent: Googlebot\nDisallow: /private/\n", requestsOf(5, googlebot, "/private/a", 9, 0, 5), "search_refused",
			"5 of Googlebot (0 verified); by line 2", "seems to be meant", ""},
		{"the pace of a group that names it is no alarm", "User-agent: bingbot\nCrawl-delay: 60\n", requestsOf(5, "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "/a", 9, 0, 1), "search_refused",
			"no request would have been refused. They are bingbot (5 requests, 0 verified). Not counted: 3 refused requests of impostors, or faster than", "", ""},
		{"but other lines are", "User-agent: bingbot\nCrawl-delay: 60\nDisallow: /private/\n",
			requestsOf(5, "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "/a", 9, 0, 1) + requestsOf(2, "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "/private/", 10, 0, 1), "search_refused",
			"2 of bingbot (0 verified); by line 3 of robots.txt: Disallow: /private/: 2.", "seems to be meant", ""},
		{"none is refused", "User-agent: *\nDisallow: /private/\n", requestsOf(5, googlebot, "/a", 9, 0, 1), "search_refused", "no request would have been refused. They are Googlebot (5 requests, 0 verified).", "", ""},
		{"none is there", "User-agent: *\nDisallow: /private/\n", requestsOf(5, bytespider, "/a", 9, 0, 1), "search_refused", "Search engines: none is in this log.", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(tt.log))}, Sites: oneSite(tt.robots)})
			f := findingOf(r, tt.code)
			if !strings.Contains(f.Text, tt.text) || !strings.Contains(f.Change, tt.change) || tt.change == "" && f.Change != "" || f.Paste != tt.paste {
				t.Errorf("%+v", f)
			}
		})
	}
}

// A client that may be the operator's own is named before all else if it would have been
// refused; a crawler with a purpose, or with many addresses, is not.
func TestOwnClients(t *testing.T) {
	const sync = "ShopSync-Bot/2.1 (ops@shop.example)"
	robots := "User-agent: *\nDisallow: /api/\n"
	for _, tt := range []struct {
		log, want string
	}{
		{requestsOf(12, sync, "/api/stock", 9, 0, 30), "would have been refused: ShopSync-Bot (12 of 12 requests)."},
		{requestsOf(12, "Miniflux/2.1 (https://miniflux.app)", "/api/feed", 9, 0, 30), "would have been refused: Miniflux (12 of 12 requests)."},
		{requestsOf(12, sync, "/stock", 9, 0, 30), ""},
		{requestsOf(9, sync, "/api/stock", 9, 0, 30), ""},
		{requestsOf(12, bytespider, "/api/stock", 9, 0, 30), ""},
		{requestsOf(6, sync, "/api/", 9, 0, 9) + strings.ReplaceAll(requestsOf(6, sync, "/api/", 9, 10, 9), "192.0.2.1", "192.0.2.2") + strings.ReplaceAll(requestsOf(6, sync, "/api/", 9, 20, 9), "192.0.2.1", "192.0.2.3"), ""},
	} {
		r := mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(tt.log))}, Sites: oneSite(robots)})
		first := r.Findings[0]
		if own := first.Code == "own_clients_refused"; own != (tt.want != "") || own && (!strings.Contains(first.Text, tt.want) || !strings.Contains(first.Change, "exempt NAME from ADDRESS")) {
			t.Errorf("%.200s: %+v", tt.log, first)
		}
	}
}
