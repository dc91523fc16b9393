package e2e_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// replaceRobots replaces the robots.txt of shop.test, and returns its state.
func (s *server) replaceRobots(file, query string) statusapi.Origin {
	s.t.Helper()
	writeFile(s.t, filepath.Join(s.dir, "shop/robots.txt"), file)
	s.adminRequest(http.MethodPost, "refresh"+query, 200, nil)
	list := adminValue[statusapi.Origins](s, "origins?site=shop.test").Origins
	if len(list) != 1 {
		s.t.Fatalf("policies: %+v", list)
	}
	return list[0]
}

// Beside a policy, an empty file is a problem only if the file before it had rules.
func TestStatusOfAnEmptyFile(t *testing.T) {
	t.Parallel()
	s := startTenants(t, "")
	const empty = "robots.txt of shop.test is empty: crawlers may fetch everything"
	p := s.replaceRobots("# nothing yet\n\n", "")
	if p.State != "loaded" || p.OK || !strings.HasPrefix(p.Message, empty+". Until ") || !strings.HasSuffix(p.Message, " it had 1 rule") || !strings.Contains(p.Advice, "grace=off") {
		t.Errorf("after a file with a rule: %+v", p)
	}
	health := adminValue[statusapi.Health](s, "health")
	if len(health.Problems) != 1 || health.Problems[0].Severity != statusapi.Severe || health.Problems[0].Message != p.Message || health.Problems[0].Since == nil {
		t.Errorf("health: %+v", health)
	}
	if out, err := s.status(); err == nil || !strings.Contains(out, "error: "+empty) {
		t.Errorf("%v: the status does not show the empty file:\n%s", err, out)
	}
	if p := s.replaceRobots("", "?accept=on"); !p.OK || p.Message != empty || p.Advice != "" {
		t.Errorf("when it is on purpose: %+v", p)
	}
	if p := s.replaceRobots("Sitemap: https://shop.test/sitemap.xml\n", ""); !p.OK || strings.Contains(p.Message, "empty") {
		t.Errorf("a file with only a Sitemap: %+v", p)
	}
}

// What was answered in place of a file is shown as an earlier version.
func TestStatusOfGraceWithoutAFile(t *testing.T) {
	t.Parallel()
	for answer, want := range map[int]string{403: "none (403)", 404: "none (404)"} {
		back := newFlaky(t)
		back.answerWith(text(answer, ""))
		s := start(t, "http://shop.test:$PORT {\n\trobots {\n\t\trefresh 1h\n\t}\n\treverse_proxy "+back.URL+"\n}\n")
		s.wants(200, s.at("shop.test", googlebot, "/private/x"), "without a file")
		back.answerWith(rules("/private/"))
		s.adminRequest(http.MethodPost, "refresh", 200, nil)
		s.wants(200, s.at("shop.test", googlebot, "/private/x"), "the grace period")
		list := adminValue[statusapi.Origins](s, "origins?grace=1").Origins
		if len(list) != 1 || len(list[0].Grace) != 1 || list[0].Grace[0].Version != "" || list[0].Grace[0].Status != answer {
			t.Fatalf("%d: %+v", answer, list)
		}
		if out, err := s.status(); err != nil || !strings.Contains(out, want+"  search engines") {
			t.Errorf("%v: the status does not show %q:\n%s", err, want, out)
		}
	}
}
