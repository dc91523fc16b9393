package hosts

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/bench/internal/server"
)

// counts are those of a site in the answers of the admin API.
type counts struct{ Requests, Denied, People uint64 }

func (c counts) tally() tally { return tally{c.Requests, c.Denied, c.People} }

// check compares the numbers of all hosts with the access logs, and looks for names of others
// in what a tenant sees.
func (f *fleet) check(b *testing.B, hosts int) {
	b.Helper()
	want := make(map[string]bool)
	for _, logged := range f.logged {
		for host := range logged {
			want[host] = true
		}
	}
	if len(want) != hosts {
		b.Fatalf("the logs have %d hosts", len(want))
	}
	for at, s := range f.servers {
		f.checkServer(b, s, f.logged[at], hosts)
	}
	started := time.Now()
	text := page(b, f.servers[0], "/all?data=live")
	b.ReportMetric(float64(time.Since(started).Milliseconds()), "page-ms")
	if b.ReportMetric(float64(len(text)), "page-octets"); !strings.Contains(string(text), fmt.Sprintf(`"origins":%d`, hosts)) {
		b.Errorf("the page: %.300s", text)
	}
	f.checkTenants(b, min(hosts, pages))
}

// checkServer compares the numbers of each host at one server.
func (f *fleet) checkServer(b *testing.B, s *server.Server, want map[string]tally, hosts int) {
	b.Helper()
	found := 0
	for first := 0; first < hosts; first += 1000 {
		var summary struct {
			Sites []struct {
				Name string
				counts
			}
		}
		ask(b, s, fmt.Sprintf("?span=day&limit=1000&name=t%02d", first/1000), &summary)
		for _, site := range summary.Sites {
			found++
			if got := site.tally(); got != want[site.Name] {
				b.Errorf("%s: %+v, the log has %+v", site.Name, got, want[site.Name])
			}
		}
	}
	if found != hosts {
		b.Errorf("the server shows %d hosts", found)
	}
}

// checkTenants looks for names of others in a tenant's page, its data, and what the admin API
// gives for the tenant.
func (f *fleet) checkTenants(b *testing.B, tenants int) {
	b.Helper()
	searched := 0
	for i := range tenants {
		own := name(i)
		texts := map[string][]byte{}
		for _, query := range []string{"", "?data=live", "?data=live&span=day", "?data=lines&text=1", "?data=check&ua=GPTBot&url=http://" + own + "/private/x"} {
			texts["page "+query] = page(b, f.servers[0], fmt.Sprint("/page/", i, query))
		}
		for _, route := range []string{"", "lines?text=1", "health"} {
			texts["route "+route] = fromAdmin(b, f.servers[0], route, own)
		}
		for what, text := range texts {
			searched += len(text)
			for _, other := range names.FindAll(text, -1) {
				if string(other) != own {
					b.Errorf("%s of %s has %s", what, own, other)
				}
			}
		}
		var live struct {
			Crawlers struct{ Day counts }
		}
		if err := json.Unmarshal(texts["page ?data=live&span=day"], &live); err != nil {
			b.Fatalf("%v: %.200s", err, texts["page ?data=live&span=day"])
		}
		if got, want := live.Crawlers.Day, f.logged[0][own]; got.Requests != want.requests || got.Denied != want.denied {
			b.Errorf("the page of %s shows %+v, the log has %+v", own, got, want)
		}
	}
	b.ReportMetric(float64(searched)/1e6, "searched-MB")
}

// page returns what a dashboard of a server answers.
func page(b *testing.B, s *server.Server, path string) []byte {
	b.Helper()
	return get(b, http.DefaultTransport, fmt.Sprintf("http://localhost:%d%s", s.TLSPort, path), "localhost", chrome)
}

// fromAdmin returns what the admin API says about one site.
func fromAdmin(b *testing.B, s *server.Server, route, site string) []byte {
	b.Helper()
	r, err := http.NewRequest(http.MethodGet, s.AdminURL("/robots/"+route), nil)
	if err != nil {
		b.Fatal(err)
	}
	if q := r.URL.Query(); site != "" {
		q.Set("site", site)
		r.URL.RawQuery = q.Encode()
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		b.Fatalf("%s: %d, %v: %s", route, resp.StatusCode, err, text)
	}
	return text
}

func ask(b *testing.B, s *server.Server, route string, into any) {
	b.Helper()
	if err := json.Unmarshal(fromAdmin(b, s, route, ""), into); err != nil {
		b.Fatal(err)
	}
}
