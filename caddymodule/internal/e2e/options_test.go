package e2e_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// siteWith returns a site with a robots.txt and the given options.
func siteWith(options string) string { return siteAt("", options) }

// siteAt is siteWith for one host.
func siteAt(host, options string) string {
	return `http://` + host + `:$PORT {
	robots {
		source inline <<TXT
			User-agent: *
			Disallow: /private/
			Crawl-delay: 100

			User-agent: bingbot
			Crawl-delay: 1
			Disallow: /private/
			TXT
		` + options + `
	}
	respond "hello"
}
`
}

// Each line is a site with its options.
func TestOptions(t *testing.T) {
	t.Parallel()
	const (
		curl    = "curl/8.5.0"
		chatgpt = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ChatGPT-User/1.0; +https://openai.com/bot)"
		adsbot  = "AdsBot-Google (+http://www.google.com/adsbot.html)"
		monitor = "W3C_Validator/1.3 http://validator.w3.org/services"
	)
	tests := []struct {
		options, ua, path string
		want              int
	}{
		{"", curl, "/private/x", 200},
		{"http_clients on", curl, "/private/x", 403},
		{"http_clients", "", "/private/x", 403},
		{"", chatgpt, "/private/x", 403},
		{"user_triggered off", chatgpt, "/private/x", 200},
		{"", adsbot, "/private/x", 200},
		{"strict", adsbot, "/private/x", 403},
		{"exempt W3C_Validator GPTBot", monitor, "/private/x", 200},
		{"exempt W3C_Validator GPTBot", gptbot, "/private/x", 200},
		{"exempt W3C_Validator", gptbot, "/private/x", 403},
		{"", gptbot, "/.well-known/x", 200},
		{"exempt_paths /private/feed", gptbot, "/private/feed.xml", 200},
		{"exempt_paths /private/feed", gptbot, "/private/x", 403},
		{"mode monitor", gptbot, "/private/x", 200},
		{"", gptbot, "/PRIVATE/x", 200},
		{"paths ignore_case", gptbot, "/PRIVATE/x", 403},
		{"", gptbot, "/x/..;/private/x", 200},
		{"paths strip_params", gptbot, "/x/..;y/private/x", 403},
		{"", gptbot, "/%2570rivate/x", 200},
		{"paths decode_twice ignore_case", gptbot, "/%2570RIVATE/x", 403},
		{"dialect 1994", gptbot, "/private/x", 403},
	}
	config, host := "", func(i int) string { return fmt.Sprintf("o%d.test", i) }
	for i, tt := range tests {
		config += siteAt(host(i), tt.options)
	}
	s := start(t, config)
	for i, tt := range tests {
		s.wants(tt.want, s.rawAt(host(i), tt.path, tt.ua), fmt.Sprintf("%s %s for %q", tt.options, tt.path, tt.ua))
		s.wants(200, s.rawAt(host(i), tt.path, chrome), tt.options+" for a person")
	}
}

func TestCrawlDelayOptions(t *testing.T) {
	t.Parallel()
	times := func(s *server, n int) (got []int) {
		for range n {
			got = append(got, s.get(bingbot, "/").status)
		}
		return got
	}
	t.Run("burst", func(t *testing.T) {
		t.Parallel()
		s := start(t, strings.Replace(siteWith("crawl_delay {\n\t\t\tburst 3\n\t\t}"), "Crawl-delay: 1\n", "Crawl-delay: 50\n", 1))
		if got := fmt.Sprint(times(s, 4)); got != "[200 200 200 429]" {
			t.Error(got)
		}
	})
	t.Run("wait", func(t *testing.T) {
		t.Parallel()
		s := start(t, siteWith("crawl_delay {\n\t\t\twait 5s\n\t\t}"))
		began := time.Now()
		if got := fmt.Sprint(times(s, 3)); got != "[200 200 200]" {
			t.Error(got)
		}
		if took := time.Since(began); took < 1200*time.Millisecond {
			t.Errorf("three requests with a Crawl-delay of 1s took %v", took)
		}
	})
	t.Run("max", func(t *testing.T) {
		t.Parallel()
		s := start(t, siteWith("crawl_delay {\n\t\t\tmax 10s\n\t\t}"))
		s.get(googlebotImage, "/")
		s.get("Mozilla/5.0 (compatible; NewThingBot/1.0)", "/")
		got := s.get("Mozilla/5.0 (compatible; NewThingBot/1.0)", "/")
		var after int
		if _, err := fmt.Sscan(got.header.Get("Retry-After"), &after); err != nil || got.status != 429 || after > 10 {
			t.Errorf("status %d, Retry-After %q", got.status, got.header.Get("Retry-After"))
		}
	})
	t.Run("monitor", func(t *testing.T) {
		t.Parallel()
		s := start(t, siteWith("mode monitor"))
		if got := fmt.Sprint(times(s, 3)); got != "[200 200 200]" {
			t.Error(got)
		}
		if n := s.metric(`caddy_robots_decisions_total{action="would_throttle",crawler="bingbot",reason="crawl_delay"}`); n != 2 {
			t.Errorf("%v requests would have been throttled, want 2", n)
		}
	})
}

const googlebotImage = "Googlebot-Image/1.0"

func TestLogsMetricsMatchersAndPlaceholders(t *testing.T) {
	t.Parallel()
	s := start(t, `http://:$PORT {
	log
	@training robots purpose ai-training
	@search robots {
		purpose search
		class crawler
	}
	robots {
		source inline "User-agent: *
Disallow: /private/"
	}
	respond /who "{http.robots.class} {http.robots.crawler}"
	respond @training "for models" 402
	respond @search "for search"
	respond "for people"
}`)
	began := time.Now()
	for range 300 {
		s.get(gptbot, "/private/x")
		s.get("MadeUpBot-"+strings.Repeat("x", 50), "/private/y")
	}
	refused := s.lines("crawler refused by robots.txt")
	windows := int(time.Since(began)/(10*time.Second)) + 2 // each crawler has one line in each window
	if len(refused) < 2 || len(refused) > 2*windows {
		t.Errorf("600 denials wrote %d lines in %d windows of ten seconds", len(refused), windows)
	}
	if l := refused[0]; l["crawler"] != "GPTBot" || l["reason"] != "disallowed" || l["line"] != float64(s.lineOf("Disallow: /private/")) || l["file"] != "Caddyfile" || l["uri"] != "/private/x" {
		t.Errorf("the line: %v", l)
	}
	for name, want := range map[string]float64{
		`caddy_robots_decisions_total{action="deny",crawler="GPTBot",reason="disallowed"}`:        300,
		`caddy_robots_decisions_total{action="deny",crawler="self-declared",reason="disallowed"}`: 300,
		`caddy_robots_origins{source="inline",state="loaded"}`:                                    1,
		`caddy_robots_rules{source="inline"}`:                                                     1,
	} {
		if got := s.metric(name); got != want {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	if got := s.get(gptbot, "/x"); got.status != 402 || got.body != "for models" {
		t.Errorf("the matcher for training: %d %q", got.status, got.body)
	}
	if got := s.get(googlebot, "/x"); got.body != "for search" {
		t.Errorf("the matcher for search: %d %q", got.status, got.body)
	}
	if got := s.get(chrome, "/x"); got.body != "for people" {
		t.Errorf("without a match: %d %q", got.status, got.body)
	}
	if got := s.get(chrome, "/who"); got.body != "person " {
		t.Errorf("placeholders for a person: %q", got.body)
	}
	s.eventually("the access log has the decision", func() bool {
		for _, l := range s.lines("handled request") {
			if r, ok := l["robots"].(map[string]any); ok && r["crawler"] == "GPTBot" && r["action"] == "deny" && r["rule"] == "Disallow: /private/" {
				return true
			}
		}
		return false
	})
}

func TestConfigurationErrorsHaveTheLine(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ options, want string }{
		{"unknown on", "unknown subdirective"},
		{"refrehs 1m", "did you mean refresh?"},
		{"refresh", "takes one value"},
		{"refresh 1m 2m", "takes one value"},
		{"refresh often", "is not a duration"},
		{"refresh 10ms", "is below 1s"},
		{"mode monitor\n\t\tmode monitor", "given twice"},
		{"mode sometimes", "want enforce or monitor"},
		{"mode enforce {\n\t\t\tenforce GPTBot\n\t\t}", "enforce is for mode monitor"},
		{"mode enforce {\n\t\t\tguard\n\t\t}", "guard needs verify"},
		{"mode monitor {\n\t\t\tguard\n\t\t}", "guard is for mode enforce"},
		{"mode monitor {\n\t\t\tenforce\n\t\t}", "enforce needs at least one value"},
		{"mode monitor {\n\t\t\tenforce GTPBot\n\t\t}", "did you mean GPTBot?"},
		{"on_error pray", "want last_good or deny"},
		{"dialect 2001", "2001"},
		{"max_origins 0", "max_origins"},
		{"strict maybe", "want on or off"},
		{"exempt", "at least one value"},
		{"exempt_paths private/", "write /private/"},
		{"source", "want site, file PATH"},
		{"source ftp x", "want site, file, inline or url"},
		{"source url example.com/robots.txt", "absolute http or https URL"},
		{"publish", "publish needs source file"},
		{"paths upside_down", "ignore_case"},
		{"crawl_delay 5s", "in a block"},
		{"crawl_delay {\n\t\t\twait 24h\n\t\t}", "not between 0s and 10m0s"},
		{"persist /var/lib/caddy/robots.counters", "write it in the global option robots"},
		{"crawl_delay {\n\t\t\tburst 0\n\t\t}", "from 1 to"},
		{"crawl_delay {\n\t\t\tper planet\n\t\t}", "want crawler or ip"},
		{"fleet memcached://x", "fleet"},
		{"x_robots_tag *.pdf", "x_robots_tag"},
		{"x_robots_tag *.pdf noindx", "noindex"},
		{"x_robots_tag ~ ( noindex", "x_robots_tag"},
		{"x_robots_tag *.pdf index, noindex", "x_robots_tag"},
	} {
		t.Run(strings.ReplaceAll(tt.options, "\n", ";"), func(t *testing.T) {
			t.Parallel()
			path, err := adapt(t, "http://:1 {\n\trobots {\n\t\t"+tt.options+"\n\t}\n}\n")
			if err == nil {
				t.Fatal("it is valid")
			}
			if !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path+":") {
				t.Errorf("want %q and the line, got:\n%v", tt.want, err)
			}
		})
	}
}

func TestFailedReloadKeepsTheOldConfiguration(t *testing.T) {
	t.Parallel()
	s := start(t, siteWith(""))
	s.wants(403, s.get(googlebot, "/private/x"), "before")
	for _, bad := range []string{"mode sometimes", "source file $DIR/none.txt", "x_robots_tag *.pdf noindx"} {
		if err := s.reload(strings.Replace(siteWith(""), "source inline", bad+"\n\t\tsource inline", 1)); err == nil {
			t.Errorf("%s was loaded", bad)
		}
		s.wants(403, s.get(googlebot, "/private/x"), "after "+bad)
		s.wants(200, s.get(chrome, "/private/x"), "a person after "+bad)
	}
}

func TestValidateUsesNoNetwork(t *testing.T) {
	t.Parallel()
	back := newFlaky(t)
	path := filepath.Join(t.TempDir(), "Caddyfile")
	writeFile(t, path, "http://:1 {\n\trobots {\n\t\tsource url "+back.URL+"/robots.txt\n\t\tfleet redis://"+strings.TrimPrefix(back.URL, "http://")+"\n\t}\n}\n")
	if out, err := exec.Command(binary, "validate", "--adapter", "caddyfile", "--config", path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := back.count(); n != 0 {
		t.Errorf("%d requests to the URL", n)
	}
}
