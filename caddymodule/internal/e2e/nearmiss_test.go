package e2e_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// The margin of robots.txt on the dashboard names the lines that never decided although robots just
// missed them. A tenant's dashboard has nothing of what robots requested from another tenant
// with the same file.
func TestDashboardShowsNearMisses(t *testing.T) {
	t.Parallel()
	s := start(t, `http://a.test:$PORT, http://b.test:$PORT {
	handle /dash* {
		`+bobsPassword+`
		robots_dashboard {
			hosts a.test
		}
	}
	robots {
		source inline "User-agent: *
Disallow: /similar$
Disallow: /Private/
Disallow: /used/

User-agent: GPTBot
Disallow: /named$
"
	}
	respond "page"
}`)
	for _, get := range []struct {
		host, ua, path string
		times, status  int
	}{
		{"a.test", googlebot, "/similar/", 3, 200},
		{"a.test", googlebot, "/similar/?token=secret", 1, 200},
		{"a.test", googlebot, "/similarity", 1, 200},
		{"a.test", chrome, "/similar/for-people", 1, 200},
		{"a.test", googlebot, "/used", 1, 200},
		{"a.test", googlebot, "/used/", 1, 403}, // so the line is not dead
		{"a.test", googlebot, "/named/", 1, 200},
		{"b.test", googlebot, "/private/of-b", 1, 200},
	} {
		for range get.times {
			s.wants(get.status, s.at(get.host, get.ua, get.path), get.path)
		}
	}
	found := func(origins []statusapi.Origin) (list []string) {
		for _, o := range origins {
			for _, f := range o.Findings {
				if f.Code == "never-met" {
					list = append(list, fmt.Sprintf("%d %s: %s", f.Line, f.Severity, f.Message))
				}
			}
		}
		return list
	}
	const similar = `warning: the rule never matched, but robots requested /similar/ at least 4 times: add "Disallow: /similar/"`
	const private = `warning: the rule never matched, but robots requested /private/of-b at least 1 time: add "Disallow: /private/"`
	var of statusapi.Origins
	if err := json.Unmarshal([]byte(s.dashboard("a.test", "/dash", "data=origins&text=1")), &of); err != nil {
		t.Fatal(err)
	}
	if got := found(of.Origins); len(got) != 1 || !strings.HasSuffix(got[0], similar) {
		t.Errorf("the dashboard of a: %q", got)
	}
	got := found(adminValue[statusapi.Origins](s, "origins?text=1").Origins)
	if text := strings.Join(got, "\n"); len(got) != 2 || !strings.Contains(text, similar) || !strings.Contains(text, private) {
		t.Errorf("all sites: %q", got)
	}
}
