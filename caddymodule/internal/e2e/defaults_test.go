package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
)

// A site can switch off each default that has no value for this.
func TestDefaultsSwitchedOff(t *testing.T) {
	t.Parallel()
	redis := miniredis.RunT(t)
	registry := filepath.Join(t.TempDir(), "crawlers.jsonl")
	writeFile(t, registry, `{"name": "TheirThing"}`+"\n")
	site := func(host, options string) string {
		return "http://" + host + ":$PORT {\n\trobots {\n\t\tsource inline \"User-agent: *\nDisallow: /private/\nCrawl-delay: 600\"\n\t\t" + options + "\n\t}\n\theader >X-Verified {http.robots.verified}\n\theader >X-Trap {http.robots.trap}\n\trespond page\n}\n"
	}
	s := start(t, `{
	servers {
		trusted_proxies static private_ranges
	}
	robots {
		exempt GTmetrix
		registry `+registry+`
		policy no-training
		answer disallowed 451
		paths ignore_case
		fleet redis://`+redis.Addr()+`
		verify {
			resolver 127.0.0.1:9
			lists off
			signatures off
		}
		challenge disallowed {
			trap /private/trap/*
		}
		x_robots_tag / noindex
	}
}
`+site("with.test", "")+site("without.test", strings.Join(strings.Fields("exempt registry policy answer paths fleet verify challenge x_robots_tag"), " off\n\t\t")+" off"))
	for _, tt := range []struct {
		ua, path      string
		with, without int
	}{
		{"Mozilla/5.0 (compatible; GTmetrix/1.0)", "/private/x", 200, 403},
		{"TheirThing/1.0 " + chrome, "/private/x", 451, 200},
		{gptbot, "/x", 451, 200},
		{googlebot, "/PRIVATE/x", 451, 200},
	} {
		s.wants(tt.with, s.rawAt("with.test", tt.path, tt.ua), fmt.Sprintf("%.40s, with the defaults", tt.ua))
		s.wants(tt.without, s.rawAt("without.test", tt.path, tt.ua), fmt.Sprintf("%.40s, without them", tt.ua))
	}
	for host, want := range map[string]string{"with.test": "noindex unverified", "without.test": " none"} {
		header := s.rawAt(host, "/", googlebot).header
		if got := header.Get("X-Robots-Tag") + " " + header.Get("X-Verified"); got != want {
			t.Errorf("%s: X-Robots-Tag and the result of verify are %q, want %q", host, got, want)
		}
	}
	https := http.Header{"X-Forwarded-Proto": {"https"}, "X-Forwarded-For": {"192.0.2.7"}} // traps need it
	for host, want := range map[string]bool{"with.test": true, "without.test": false} {
		resp := s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/", s.port), chrome, host, https)
		if trap := resp.header.Get("X-Trap"); strings.HasPrefix(trap, "/private/trap/") != want {
			t.Errorf("%s: trap %q", host, trap)
		}
	}
	s.eventually("the default fleet is connected", func() bool { return s.metric("caddy_robots_fleet_up") == 1 })
	s.rawAt("without.test", "/", bingbot)
	if keys := budgetKeys(redis); len(keys) > 0 {
		t.Errorf("keys in Redis for a site without the fleet: %q", keys)
	}
	s.rawAt("with.test", "/", bingbot)
	s.eventually("the default fleet counts", func() bool { return len(budgetKeys(redis)) > 0 })
}

// budgetKeys returns the keys in Redis that are neither the probe's nor of a set that servers share.
func budgetKeys(redis *miniredis.Miniredis) []string {
	return slices.DeleteFunc(redis.Keys(), func(key string) bool {
		return strings.Contains(key, "probe") || strings.Contains(key, "{servers}") || strings.Contains(key, "{counts}")
	})
}

// Crawlers, a registry and a fleet in the global option apply to all sites.
func TestGlobalCrawlersAndFleet(t *testing.T) {
	t.Parallel()
	registry := filepath.Join(t.TempDir(), "crawlers.jsonl")
	writeFile(t, registry, `{"name": "TheirThing"}`+"\n")
	redis := miniredis.RunT(t)
	config := `{
	robots {
		registry ` + registry + `
		crawler OurThing {
			user_agents OurThing
		}
		fleet redis://` + redis.Addr() + `
	}
}
`
	hosts := []string{"one.test", "two.test"}
	for _, host := range hosts {
		config += "http://" + host + ":$PORT {\n\trobots {\n\t\tsource inline \"User-agent: *\nDisallow: /private/\nCrawl-delay: 600\"\n\t}\n\trespond page\n}\n"
	}
	s := start(t, config)
	for _, host := range hosts {
		s.wants(403, s.rawAt(host, "/private/x", chrome+" OurThing/1.0"), host+": a crawler of the global option")
		s.wants(403, s.rawAt(host, "/private/x", chrome+" TheirThing/1.0"), host+": a crawler of its registry")
		s.wants(200, s.rawAt(host, "/private/x", chrome), host+": a person")
	}
	s.eventually("the server shares budgets", func() bool {
		s.get(chrome, "/")
		return s.metric("caddy_robots_fleet_up") == 1
	})
	for i, host := range hosts {
		s.wants(200, s.rawAt(host, "/", bingbot), host+": the first request")
		s.eventually("its budget is in Redis", func() bool { return len(budgetKeys(redis)) > i })
		s.wants(429, s.rawAt(host, "/", bingbot), host+": the second one")
	}
	writeFile(t, registry+".new", `{"name": "NewThing"}`+"\n")
	if err := os.Rename(registry+".new", registry); err != nil {
		t.Fatal(err)
	}
	for _, host := range hosts {
		s.eventually("the registry's new crawler is known to "+host, func() bool {
			return s.rawAt(host, "/private/x", chrome+" NewThing/1.0").status == 403
		})
	}
}
