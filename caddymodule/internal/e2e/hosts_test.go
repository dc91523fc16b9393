package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// hosting is a catch-all site, whose hosts have a robots.txt each, and the dashboard of
// one of them.
const hosting = `
http://:$PORT {
	log {
		output file $DIR/access.log
	}
	robots {
		refresh 1h
		x_robots_tag *.pdf noindex
		OPTIONS
	}
	respond /robots.txt "# {host}
User-agent: *
Disallow: /private/
Disallow: /of-{host}/
"
	respond "hello"
}
http://dash.test:$PORT {
	robots_dashboard {
		hosts tenant-7.example
		access external
	}
}`

func startHosting(t *testing.T, options string) *server {
	t.Helper()
	return start(t, strings.Replace(hosting, "OPTIONS", options, 1))
}

// tenantName is what no other tenant may see.
var tenantName = regexp.MustCompile(`tenant-\d+`)

// Each host of a catch-all site has the numbers that the access log has, and the sum
// is the site's. A tenant sees nothing of the others.
func TestHostsOfACatchAll(t *testing.T) {
	t.Parallel()
	s := startHosting(t, "")
	const hosts, workers = 500, 8
	var sending sync.WaitGroup
	for w := range workers {
		sending.Go(func() {
			for i := w; i < hosts; i += workers {
				host := fmt.Sprintf("tenant-%d.example", i)
				for range 1 + i%3 {
					s.rawAt(host, "/private/x", gptbot)
				}
				for range i % 2 {
					s.rawAt(host, "/", chrome)
				}
				s.rawAt(host, "/", bingbot)
			}
		})
	}
	sending.Wait()
	if n := len(s.lines("crawler refused by robots.txt")); n == 0 || n > hosts/10 { // one in ten seconds
		t.Errorf("%d lines in the log for refusals at %d hosts", n, hosts)
	}

	type numbers struct{ crawlers, refused, people uint64 }
	logged, sum := make(map[string]numbers), numbers{}
	for line := range strings.Lines(readFile(t, filepath.Join(s.dir, "access.log"))) {
		var entry struct {
			Request struct{ Host string }
			Robots  *struct{ Action string }
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		n := logged[entry.Request.Host]
		for _, n := range []*numbers{&n, &sum} {
			switch {
			case entry.Robots == nil:
				n.people++
			case entry.Robots.Action == "deny":
				n.refused++
				fallthrough
			default:
				n.crawlers++
			}
		}
		logged[entry.Request.Host] = n
	}
	all := adminValue[statusapi.Summary](s, "?rows=1000")
	if got := (numbers{all.Crawlers.Total.Requests, all.Crawlers.Total.Denied, all.People.Total}); got != sum || len(logged) != hosts {
		t.Errorf("the sum: %+v, the access log has %+v of %d hosts", got, sum, len(logged))
	}
	rows := make(map[string]statusapi.SiteRow)
	for _, row := range all.Rows {
		rows[row.Name] = row
	}
	for host, want := range logged {
		own := adminValue[statusapi.Summary](s, "?site="+host)
		if got := (numbers{own.Crawlers.Total.Requests, own.Crawlers.Total.Denied, own.People.Total}); got != want || len(own.Sites) != 1 || own.Sites[0].Mode != statusapi.Enforce {
			t.Fatalf("%s: %+v, the access log has %+v: %+v", host, got, want, own.Sites)
		}
		if row := rows[host]; row.Requests != want.crawlers || row.Refused != want.refused || row.State != "loaded" || !row.OK {
			t.Fatalf("the row of %s: %+v, want %+v", host, row, want)
		}
	}
	if row := rows[statusapi.AnySite]; row.Requests != sum.crawlers || all.Hosts != (statusapi.HostTally{Counted: hosts}) {
		t.Errorf("the site: %+v, hosts %+v", row, all.Hosts)
	}
	if few := adminValue[statusapi.Summary](s, "?limit=3&name=tenant-4"); len(few.Sites) != 3 || !strings.HasPrefix(few.Sites[0].Name, "tenant-4") || few.Sites[0].Crawlers.Total.Denied != 3 {
		t.Errorf("the three worst hosts with a name: %+v", few.Sites)
	}
	if sites := adminValue[statusapi.Summary](s, "").Sites; len(sites) != 1 || sites[0].Crawlers.Total.Denied != sum.refused {
		t.Errorf("the sites of the configuration: %+v", sites)
	}

	id := adminValue[statusapi.Origins](s, "origins?site=tenant-7.example").Origins[0].ID
	check := url.Values{"ua": {"GPTBot"}, "url": {"http://tenant-7.example/private/x"}}.Encode()
	var bodies []string
	for _, query := range []string{"", "?data=live", "?data=live&span=month", "?data=live&id=" + id, "?data=live&site=tenant-7.example", "?data=origins", "?data=origins&text=1", "?data=check&" + check} {
		got := s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/%s", s.port, query), chrome, "dash.test", nil)
		s.wants(200, got, "the dashboard"+query)
		if query != "" && !strings.Contains(got.body, "tenant-7.example") {
			t.Errorf("%s has nothing of the tenant: %.300s", query, got.body)
		}
		bodies = append(bodies, got.body)
	}
	for _, route := range []string{"?", "?rows=100&", "?limit=100&", "crawlers?", "origins?text=1&", "lines?", "recent?limit=1000&", "budgets?crawler=bingbot&", "health?", "check?" + check + "&"} {
		bodies = append(bodies, s.adminRequest(http.MethodGet, route+"site=tenant-7.example", 200, nil).body)
	}
	for _, body := range bodies {
		for _, name := range tenantName.FindAllString(body, -1) {
			if name != "tenant-7" {
				t.Fatalf("a tenant sees %s: %.500s", name, body)
			}
		}
	}
	other := s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/?data=live&site=tenant-8.example", s.port), chrome, "dash.test", nil)
	if other.status != 404 || strings.Contains(strings.ReplaceAll(other.body, `site=\"tenant-8.example\"`, ""), "tenant-8") {
		t.Errorf("a tenant asks for another one: status %d, %s", other.status, other.body)
	}
}

// What is proposed for one host of a catch-all site, pasted into its block, touches no other.
func TestAdviceForOneHostTouchesNoOther(t *testing.T) {
	t.Parallel()
	s := startHosting(t, "")
	const one = "tenant-1.example"
	for i := range 150 {
		s.rawAt(one, fmt.Sprintf("/s/%d", i), "AhrefsBot/7.0")
	}
	var problem statusapi.Problem
	s.eventually("it is busy", func() bool {
		for _, p := range adminValue[statusapi.Health](s, "health?site="+one).Problems {
			if p.Kind == "busy" {
				problem = p
			}
		}
		return problem.Kind != ""
	})
	var pasted []string
	for _, a := range problem.Actions {
		if a.Where == statusapi.Caddyfile {
			pasted = append(pasted, a.Text)
		}
	}
	if len(pasted) == 0 {
		t.Fatalf("nothing to paste: %+v", problem)
	}
	if err := s.reload(strings.Replace(hosting, "OPTIONS", strings.Join(pasted, "\n"), 1)); err != nil {
		t.Fatal(err)
	}
	refused := func(host string) (n int) {
		for i := range 30 {
			if s.rawAt(host, fmt.Sprintf("/s/%d", i), "AhrefsBot/7.0").status != 200 {
				n++
			}
		}
		return n
	}
	for i := range 10 {
		if host := fmt.Sprintf("tenant-%d.example", i+2); refused(host) > 0 {
			t.Errorf("%s: its requests are refused, after\n%s", host, strings.Join(pasted, "\n"))
		}
	}
	if refused(one) == 0 {
		t.Errorf("nothing is refused at the host itself, after\n%s", strings.Join(pasted, "\n"))
	}
}

// The event of an accident names the host of a catch-all site.
func TestEventsNameTheHost(t *testing.T) {
	t.Parallel()
	s := startRecorded(t, `{
	`+recorded+`}
http://:$PORT {
	root $DIR/sites/{host}
	robots {
		refresh 1s
	}
	file_server
}`)
	file := filepath.Join(s.dir, "sites", "tenant-1.example", "robots.txt")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, file, "User-agent: *\nDisallow: /private/\nDisallow: /a\nDisallow: /b\n")
	s.wants(403, s.at("tenant-1.example", gptbot, "/private/x"), "a disallowed path")
	s.eventually("the file is watched", func() bool {
		return adminValue[statusapi.Origins](s, "origins?site=tenant-1.example").Origins[0].State == "loaded"
	})
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	s.eventually("an event names the host", func() bool {
		s.at("tenant-1.example", gptbot, "/")
		events, _ := os.ReadFile(filepath.Join(s.dir, "events"))
		return strings.Contains(string(events), `"site":"tenant-1.example"`) && strings.Contains(string(events), "robots_rules_lost")
	})
}
