package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// from sends a request with a client address, in the same way as a trusted proxy.
func (s *server) from(address, method, ua, path string, fields ...string) response {
	s.t.Helper()
	h := http.Header{"X-Forwarded-For": {address}}
	for i := 0; i+1 < len(fields); i += 2 {
		h.Set(fields[i], fields[i+1])
	}
	return s.do(method, fmt.Sprintf("http://localhost:%d%s", s.port, path), ua, "", h)
}

// behindProxy returns a configuration that trusts the proxy of from.
func behindProxy(robots, options string) string {
	return "{\n\tservers {\n\t\ttrusted_proxies static 127.0.0.1/8 ::1/128\n\t}\n}\nhttp://:$PORT {\n\trobots {\n\t\tsource inline <<TXT\n\t\t\t" +
		strings.ReplaceAll(strings.TrimSpace(robots), "\n", "\n\t\t\t") + "\n\t\t\tTXT\n\t\tpublish\n" + options + "\t}\n\trespond hello\n}\n"
}

func TestSoftwareThatAnyoneRunsDoesNotShareABudget(t *testing.T) {
	t.Parallel()
	s := start(t, behindProxy("User-agent: *\nCrawl-delay: 10\n", ""))
	for _, ua := range []string{
		"Mozilla/5.0 (compatible; Miniflux/2.1.3; +https://miniflux.app)",
		"FreshRSS/1.24.0 (Linux; https://freshrss.org)",
		"http.rb/5.1.1 (Mastodon/4.2.10; +https://social.example/)",
		"Wget/1.21.4",
	} {
		atOnce := 10 // of a feed reader and a preview
		if strings.HasPrefix(ua, "Wget") {
			atOnce = 1
		}
		for i := range 3 {
			for range atOnce {
				s.wants(200, s.from(fmt.Sprintf("192.0.2.%d", i+1), http.MethodGet, ua, "/feed"), fmt.Sprintf("%s, person %d", ua, i+1))
			}
		}
		s.wants(429, s.from("192.0.2.1", http.MethodGet, ua, "/feed"), ua+" again")
	}
	s.wants(200, s.from("192.0.2.1", http.MethodGet, "UnknownFetchBot/1.0", "/"), "an unknown robot")
	s.wants(429, s.from("192.0.2.2", http.MethodGet, "UnknownFetchBot/1.0", "/"), "the unknown robot from another address")
}

func TestWebhooksAreNeverRefused(t *testing.T) {
	t.Parallel()
	s := start(t, behindProxy("User-agent: *\nDisallow: /\nCrawl-delay: 10\n", "\t\thttp_clients on\n\t\tprograms on\n\t\tstrict on\n"))
	for _, ua := range []string{
		"Stripe/1.0 (+https://stripe.com/docs/webhooks)",
		"PayPal IPN ( https://www.paypal.com/ipn )",
		"PayPal/AUHR-214.0-55417034",
		"GitHub-Hookshot/044aadd",
		"GitLab/17.2.0-ee",
		"Bitbucket-Webhooks/2.0",
	} {
		for range 3 {
			s.wants(200, s.from("192.0.2.1", http.MethodPost, ua, "/hook"), "POST of "+ua)
		}
	}
	// Slack sends events with the User-Agent of its link previews.
	const slack = "Slackbot 1.0 (+https://api.slack.com/robots)"
	for range 3 {
		s.wants(200, s.from("192.0.2.1", http.MethodPost, slack, "/events"), "POST of "+slack)
	}
	s.wants(403, s.from("192.0.2.1", http.MethodGet, slack, "/"), "GET of "+slack)
	s.wants(403, s.from("192.0.2.1", http.MethodHead, slack, "/"), "HEAD of "+slack)
}

func TestPrograms(t *testing.T) {
	t.Parallel()
	const ua = "SiteSweeper/2.0"
	config := func(value string) string {
		return behindProxy("User-agent: *\nDisallow: /private/\nCrawl-delay: 100\n", "\t\tprograms "+value+"\n")
	}
	s := start(t, config("seen"))
	get := func(address string, fields ...string) response {
		return s.from(address, http.MethodGet, ua, "/private/", fields...)
	}
	s.wants(200, get("192.0.2.1"), "before it read /robots.txt")
	s.wants(200, s.from("192.0.2.1", http.MethodGet, ua, "/robots.txt"), "its request for /robots.txt")
	s.wants(403, get("192.0.2.1"), "after it read /robots.txt")
	s.wants(200, get("192.0.2.1", "Authorization", "Bearer x"), "with Authorization")
	s.wants(200, s.from("192.0.2.1", http.MethodPost, ua, "/private/"), "its POST")
	s.wants(200, get("192.0.2.2"), "from another address")
	s.wants(200, s.from("192.0.2.1", http.MethodGet, chrome, "/private/"), "a person at that address")
	for range 2 {
		s.wants(200, s.from("192.0.2.1", http.MethodGet, ua, "/"), "the Crawl-delay does not apply to it")
	}
	if err := s.reload(config("off")); err != nil {
		t.Fatal(err)
	}
	s.wants(200, get("192.0.2.1"), "off")
	if err := s.reload(config("on")); err != nil {
		t.Fatal(err)
	}
	s.wants(403, get("192.0.2.2"), "on")
	s.wants(200, s.from("192.0.2.1", http.MethodGet, chrome, "/private/"), "a person with programs on")
	if err := s.reload(config("seen")); err != nil {
		t.Fatal(err)
	}
	s.wants(403, get("192.0.2.1"), "after a reload")
}

func TestEvidencePlaceholder(t *testing.T) {
	t.Parallel()
	s := start(t, "http://:$PORT {\n\trobots {\n\t\tsource inline \"User-agent: *\"\n\t}\n\trespond \"{http.robots.class} {http.robots.evidence}.\"\n}\n")
	for ua, want := range map[string]string{
		gptbot:            "crawler token.",
		"AcmeBot/1.0":     "self-declared declaration.",
		"SiteSweeper/2.0": "program form.",
		chrome:            "person .",
	} {
		if got := s.get(ua, "/").body; got != want {
			t.Errorf("%s: %q, want %q", ua, got, want)
		}
	}
}

// An app is a person whatever its name is. Long text before a crawler's name does
// not hide it.
func TestAppsPassAndPaddingHidesNoCrawler(t *testing.T) {
	t.Parallel()
	s := start(t, "http://:$PORT {\n\trobots {\n\t\tsource inline <<TXT\n\t\t\tUser-agent: *\n\t\t\tDisallow: /private/\n\t\t\tTXT\n\t\thttp_clients on\n\t\tprograms on\n\t}\n\trespond hello\n}\n")
	for _, ua := range []string{"iRobot Home/6.0 (iPhone; iOS 17.0; Scale/3.00)", "Chatbot/42 CFNetwork/1485 Darwin/23.1.0", "Dalvik/2.1.0 (Linux; U; Android 13; Pixel 7 Build/TQ3A)"} {
		s.wants(200, s.get(ua, "/private/"), ua)
	}
	pad := strings.Repeat("Lorem ipsum (", 50)
	for _, ua := range []string{pad + "GPTBot/1.2", pad + "AcmeBot/1.0", strings.Repeat("x ", 2000) + "GPTBot/1.2", chrome + strings.Repeat(" y", 2000)} {
		s.wants(403, s.get(ua, "/private/"), fmt.Sprintf("%.40s… of %d octets", ua, len(ua)))
	}
}
