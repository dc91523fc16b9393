package e2e_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// persist keeps counters over a restart. A damaged file is kept, and what can be read
// of it counts. A second server with the same file waits for the first one.
func TestPersist(t *testing.T) {
	t.Parallel()
	const global = "{\n\trobots {\n\t\tpersist $DIR/robots.json\n\t}\n}"
	s := startTenants(t, global)
	s.end()
	again := startIn(t, s, global+tenants)
	sum := adminValue[statusapi.Status](again, "")
	if sum.Crawlers.Total.Requests != 4 || sum.Crawlers.Day.Denied != 3 || sum.People.Total != 2 || sum.Health.Persist == nil {
		t.Errorf("after a restart: %+v", sum.Crawlers)
	}
	if rules := adminValue[statusapi.Lines](again, "lines").Lines; len(rules) != 3 {
		t.Errorf("rules after a restart: %+v", rules)
	}
	again.visit()
	if sum := adminValue[statusapi.Status](again, ""); sum.Crawlers.Total.Requests != 8 {
		t.Errorf("new requests are not counted: %+v", sum.Crawlers.Total)
	}
	again.end()

	file := filepath.Join(s.dir, "robots.json")
	const broken = `{"version": 1, "sites": [{"name": "shop.test", "people": {"total": 5}}, {"name"`
	writeFile(t, file, broken)
	damaged := startIn(t, s, global+tenants)
	problem := func(s *server) string {
		health := adminValue[statusapi.Health](s, "health")
		for _, p := range health.Problems {
			if p.Kind == "persist" {
				return p.Message
			}
		}
		return health.Persist.Error
	}
	if sum := adminValue[statusapi.Status](damaged, ""); sum.People.Total != 0 || sum.Health.OK || readFile(t, file+".bad") != broken {
		t.Errorf("with a damaged file: %+v", sum)
	}
	if len(damaged.lines("persist: the file can't be read")) != 1 {
		t.Error("the damage is not logged")
	}
	before := problem(damaged)
	if err := damaged.reload(global + tenants); err != nil {
		t.Fatal(err)
	}
	if after := problem(damaged); !strings.Contains(before, "could not be read") || after != "" {
		t.Errorf("%q, and after a reload %q", before, after)
	}

	waiting := startIn(t, s, global+tenants)
	if got := problem(waiting); !strings.Contains(got, "another process") {
		t.Errorf("a second server with the file: %q", got)
	}
	damaged.visit()
	damaged.end()
	waiting.visit()
	waiting.eventually("it has the file", func() bool { return problem(waiting) == "" })
	if sum := adminValue[statusapi.Status](waiting, ""); sum.Crawlers.Total.Requests != 8 || sum.People.Total != 4 {
		t.Errorf("the counts of both: %+v, %d people", sum.Crawlers.Total, sum.People.Total)
	}
}
