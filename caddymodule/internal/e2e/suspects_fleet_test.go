package e2e_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"testing"

	"github.com/alicebob/miniredis/v2"
)

// Two servers share a storage and a Redis. Each sees one signal of a client, and
// for both the client becomes a suspect. Each accepts the trap URLs of the other.
func TestFleetSharesSuspects(t *testing.T) {
	t.Parallel()
	redis := miniredis.RunT(t)
	storage, port := t.TempDir(), freePort(t)
	header := http.Header{"X-Forwarded-For": {"203.0.113.9"}, "X-Forwarded-Proto": {"https"}}
	servers := make([]*server, 2)
	for i := range servers {
		servers[i] = startAt(t, fmt.Sprintf("127.0.0.%d", i+2), port, fmt.Sprintf(`{
	metrics
	storage file_system %s
	servers {
		trusted_proxies static 127.0.0.1/8
	}
}
http://:$PORT {
	bind $HOST
	robots {
		%s
		suspects {
			trap /calendar-all/*
			action bind
		}
		fleet redis://%s {
			instances 2
		}
	}
	respond /who "{http.robots.suspect}"
	respond "{http.robots.trap}"
}`, storage, trapRules, redis.Addr()))
	}
	ask := func(s *server, path string) response {
		t.Helper()
		return s.do(http.MethodGet, fmt.Sprintf("http://%s:%d%s", s.host, s.port, path), chrome, "example.com", header)
	}
	first, second := servers[0], servers[1]
	for _, s := range servers {
		s.eventually("the server shares budgets", func() bool { return s.metric("caddy_robots_fleet_up") == 1 })
	}
	var trap string
	first.eventually("both have the key of the storage", func() bool {
		trap = ask(first, "/page").body
		if trapURL.FindString(trap) == "" {
			t.Fatalf("no trap: %q", trap)
		}
		ask(second, trap)
		return second.signal("trap") > 0
	})
	if got := ask(first, "/robots.txt"); got.status != http.StatusOK {
		t.Fatalf("robots.txt: %d", got.status)
	}
	for _, s := range servers {
		s.eventually("it is a suspect at "+s.host, func() bool { return ask(s, "/who").body != "" })
		s.wants(403, ask(s, "/account/"), "a path that the group * disallows, at "+s.host)
	}
	// Without Redis, each server uses the signals that it has, and no client waits.
	redis.Close()
	for _, s := range servers {
		s.wants(403, ask(s, "/account/"), "without Redis, at "+s.host)
	}
}

// Of the servers of a fleet, one tells of an accident that all of them see.
func TestOneServerOfAFleetTells(t *testing.T) {
	t.Parallel()
	redis := miniredis.RunT(t)
	file, port := filepath.Join(t.TempDir(), "robots.txt"), freePort(t)
	const rules = "User-agent: *\nDisallow: /a\nDisallow: /b\n"
	writeFile(t, file, rules)
	var servers []*server
	for i := range 2 {
		s := startAt(t, fmt.Sprintf("127.0.0.%d", i+2), port, "{\n\tmetrics\n}\nhttp://shop.test:$PORT, http://$HOST:$PORT {\n\tbind $HOST\n\trobots {\n\t\tsource file "+file+
			"\n\t\tfleet redis://"+redis.Addr()+" {\n\t\t\tinstances 2\n\t\t}\n\t}\n\trespond page\n}\n")
		s.eventually("the server shares budgets", func() bool { s.get(chrome, "/"); return s.metric("caddy_robots_fleet_up") == 1 })
		servers = append(servers, s)
	}
	told := func(message string) (n int) {
		for _, s := range servers {
			n += len(s.lines(message))
		}
		return n
	}
	for _, tt := range []struct {
		text, message string
		lost          bool
	}{{"# nothing\n", "an accident began", true}, {rules, "an accident ended", false}} {
		writeFile(t, file, tt.text)
		for _, s := range servers {
			s.eventually("the server sees it", func() bool { s.refresh(""); return slices.Contains(s.accidents(), "rules_lost") == tt.lost })
		}
		servers[0].eventually(tt.message, func() bool { return told(tt.message) > 0 })
	}
	if began, ended := told("an accident began"), told("an accident ended"); began != 1 || ended != 1 {
		t.Errorf("%d began, %d ended", began, ended)
	}
}
