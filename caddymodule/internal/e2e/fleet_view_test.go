package e2e_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// Each server of a fleet shows the sum of all, by site and host, and each of them. While Redis does not answer, it says so and goes on showing its
// own counts. The servers count themselves.
func TestFleetView(t *testing.T) {
	t.Parallel()
	redis := miniredis.RunT(t)
	config := `http://:$PORT {
	robots {
		source inline "User-agent: *
Disallow: /private/"
		fleet redis://` + redis.Addr() + `
	}
	@page host page.test
	handle @page {
		robots_dashboard {
			hosts one.test
			access external
		}
	}
	respond page
}
http://two.test:$PORT {
	robots {
		source inline "User-agent: *
Disallow: /"
	}
	respond page
}`
	servers := []*server{start(t, config), start(t, config), start(t, config)}
	for i, s := range servers {
		for range i + 1 {
			s.wants(403, s.rawAt("one.test", "/private/x", bingbot), "a refused request")
		}
		s.wants(200, s.rawAt("other.test", "/", bingbot), "another host")
		s.wants(200, s.rawAt("one.test", "/", chrome), "a person")
		s.wants(403, s.rawAt("two.test", "/", bingbot), "a site without the fleet")
	}
	view := func(s *server, query string) (v statusapi.FleetView) {
		s.adminRequest("GET", "fleet"+query, 200, &v)
		return v
	}
	for _, s := range servers {
		s.eventually("the server shows the counts of all", func() bool {
			v := view(s, "")
			return len(v.Servers) == 3 && v.Sum.Day.Denied == 6 && v.Sum.Day.Requests == 9
		})
	}
	v := view(servers[0], "")
	sites, _ := json.Marshal(v.Sites)
	for _, site := range v.Sites {
		if site.Name == "two.test" || site.Name == "one.test" && (site.Day.Denied != 6 || site.Servers != 3 || site.Hour.People != 3) {
			t.Errorf("%+v", site)
		}
	}
	if !strings.Contains(string(sites), `"one.test"`) || !strings.Contains(string(sites), `"other.test"`) || len(v.Crawlers) != 1 || v.Crawlers[0].Day.Requests != 9 {
		t.Errorf("sites %s, crawlers %+v", sites, v.Crawlers)
	}
	own := 0
	for _, s := range v.Servers {
		if s.Own {
			own++
		}
		if !s.Alive || s.Name == "" {
			t.Errorf("%+v", s)
		}
	}
	if own != 1 {
		t.Errorf("%d servers are this one", own)
	}

	// A page for one host has its sums, and no name of another host, of a server or of a crawler of others.
	body := servers[0].rawAt("page.test", "/?data=live", chrome).body
	var live struct {
		Fleet statusapi.FleetView `json:"fleet"`
	}
	if err := json.Unmarshal([]byte(body), &live); err != nil {
		t.Fatalf("%v: %.300s", err, body)
	}
	if live.Fleet.Sum.Day.Denied != 6 || live.Fleet.Sum.Day.Requests != 6 || live.Fleet.Servers[0].Name != "" || strings.Contains(body, "other.test") {
		t.Errorf("%+v", live.Fleet)
	}

	out, err := servers[1].status("--fleet")
	if err != nil || !strings.Contains(out, "(this one)") || !strings.Contains(out, "one.test") || strings.Contains(out, "two.test") {
		t.Errorf("%v\n%s", err, out)
	}
	redis.Close()
	servers[0].eventually("the server says that Redis is away", func() bool {
		v := view(servers[0], "")
		return v.Error != "" && len(v.Servers) == 3 && v.Sum.Day.Denied == 6
	})
	if out, _ := servers[0].status("--fleet"); !strings.Contains(out, "Redis does not answer") {
		t.Error(out)
	}
}

// Of a fleet, one server tells of an accident, also at a host of a catch-all; that Redis is
// away each one tells.
func TestOneServerOfAFleetTellsOfATenant(t *testing.T) {
	t.Parallel()
	redis, back, servers := miniredis.RunT(t), newFlaky(t), []*server{}
	for range 3 {
		servers = append(servers, start(t, "http://:$PORT {\n\trobots {\n\t\trefresh 1h\n\t\tfleet redis://"+redis.Addr()+
			" {\n\t\t\tdeadline 1s\n\t\t}\n\t}\n\treverse_proxy "+back.Listener.Addr().String()+"\n}\n"))
	}
	for _, s := range servers {
		s.wants(403, s.at("tenant.test", gptbot, "/private/x"), "a disallowed path")
		s.eventually("Redis answers", func() bool {
			sections := adminValue[statusapi.Health](s, "health").Sections
			return len(sections) == 1 && sections[0].Rows[0][1] != "" && sections[0].Rows[0][3] == ""
		})
	}
	told := func(message, kind string) (told int) {
		for _, s := range servers {
			for _, line := range s.lines(message) {
				if line["kind"] == kind {
					told++
				}
			}
		}
		return told
	}
	for _, tt := range []struct {
		answer  http.HandlerFunc
		message string
		lost    bool
	}{{text(404, ""), "an accident began", true}, {rules("/private/"), "an accident ended", false}} {
		back.answerWith(tt.answer)
		for _, s := range servers {
			s.eventually("the server sees it", func() bool { s.refresh(""); return slices.Contains(s.accidents(), "rules_lost") == tt.lost })
		}
		servers[0].eventually(tt.message, func() bool { return told(tt.message, "rules_lost") > 0 })
	}
	if began, ended := told("an accident began", "rules_lost"), told("an accident ended", "rules_lost"); began != 1 || ended != 1 {
		t.Errorf("%d servers told that the accident began, %d that it ended", began, ended)
	}
	redis.Close()
	servers[0].eventually("each one tells that Redis is away", func() bool { return told("an accident began", "fleet_lost") == len(servers) })
}

// Two servers with the data folder of one, such as a cloned image, tell the fleet under one
// name: each says so. A server that is started again is no other one.
func TestTwoServersWithOneIdentity(t *testing.T) {
	t.Parallel()
	redis := miniredis.RunT(t)
	config := "http://:$PORT {\n\trobots {\n\t\tfleet redis://" + redis.Addr() + "\n\t}\n\trespond page\n}\n"
	image := &server{t: t, dir: t.TempDir(), host: "localhost"}
	identity := filepath.Join(image.dir, "caddy", "instance.uuid")
	err := errors.Join(os.MkdirAll(filepath.Dir(identity), 0o700), os.WriteFile(identity, []byte("97d4b54a-cf46-4f73-95ca-0989cb603bca"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	one := startIn(t, image, config)
	problems := func(s *server) (list []string) {
		for _, p := range adminValue[statusapi.Health](s, "health").Problems {
			if strings.Contains(p.Message, "the same identity") && strings.Contains(p.Advice, "instance.uuid") {
				list = append(list, p.Kind)
			}
		}
		return list
	}
	two := startIn(t, one, config)
	for _, s := range []*server{one, two} {
		s.eventually("the server knows that another one has its identity", func() bool { return len(problems(s)) == 1 })
	}
	one.end()
	two.eventually("the other one has ended", func() bool { return len(problems(two)) == 0 })
}
