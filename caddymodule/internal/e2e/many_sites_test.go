package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// mostPolled is the largest size of what the dashboard fetches every few seconds, in
// octets before compression.
const mostPolled = 40_000

// The data that the page fetches does not grow with the number of sites: it has short
// rows of the worst ones.
func TestPolledDataOfManySites(t *testing.T) {
	t.Parallel()
	const n, worst = 300, 217
	var config strings.Builder
	config.WriteString("http://admin.test:$PORT {\n\trobots_dashboard {\n\t\tall_sites\n\t\taccess external\n\t}\n}\n")
	for i := range n {
		fmt.Fprintf(&config, "http://s%d.test:$PORT {\n\trobots {\n\t\tsource inline \"User-agent: *\nDisallow: /private/\nDisallow: /of-%[1]d/\n\"\n\t\tpublish\n\t}\n\trespond page\n}\n", i)
	}
	s := start(t, config.String())
	for i := range n {
		host := fmt.Sprintf("s%d.test", i)
		for _, ua := range []string{googlebot, bingbot, gptbot, chrome} {
			s.rawAt(host, "/", ua)
		}
		s.rawAt(host, "/private/x", gptbot)
	}
	for range 5 {
		s.rawAt(fmt.Sprintf("s%d.test", worst), "/private/x", gptbot)
	}
	poll := func(query string) (live struct {
		Summary statusapi.Summary
		Origins statusapi.Origins
		Recent  statusapi.Recent
	}) {
		t.Helper()
		resp := s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/?data=live%s", s.port, query), chrome, "admin.test", nil)
		s.wants(200, resp, query)
		if err := json.Unmarshal([]byte(resp.body), &live); err != nil {
			t.Fatal(err)
		}
		t.Logf("%q: %d octets", query, len(resp.body))
		if len(resp.body) > mostPolled {
			parts := make(map[string]json.RawMessage)
			_ = json.Unmarshal([]byte(resp.body), &parts)
			for name, part := range parts {
				t.Logf("%s: %d", name, len(part))
			}
			t.Errorf("%q: %d octets, want at most %d", query, len(resp.body), mostPolled)
		}
		return live
	}
	all := poll("")
	if len(all.Summary.Rows) == 0 || all.Summary.Rows[0].Name != fmt.Sprintf("s%d.test", worst) || all.Summary.Rows[0].Refused != 6 || all.Summary.Modes[statusapi.Enforce] != n || len(all.Summary.Sites) > 0 {
		t.Errorf("the first of %d rows is %+v, modes %v", len(all.Summary.Rows), all.Summary.Rows[0], all.Summary.Modes)
	}
	if first := all.Origins.Origins[0]; first.Sites[0] != all.Summary.Rows[0].Name {
		t.Errorf("the first origin is %s%v, want the one that refuses most", first.Origin, first.Sites)
	}
	poll(fmt.Sprint("&after=", all.Recent.Last))
	poll("&span=month&crawler=GPTBot&id=" + all.Origins.Origins[0].ID)
	if rows := poll("&filter=S29").Summary.Rows; len(rows) != 11 {
		t.Errorf("%d rows with s29 in the name, want 11", len(rows))
	}
	if one := poll("&site=s7.test"); len(one.Summary.Rows) != 1 || len(one.Origins.Origins) != 1 {
		t.Errorf("one site: %d rows, %d origins", len(one.Summary.Rows), len(one.Origins.Origins))
	}
	// The admin API has the same rows, and all sites with all counts.
	summary := adminValue[statusapi.Summary](s, "?rows=2&name=s2&span=day")
	summary.Rows[0].Minute = all.Summary.Rows[0].Minute // a minute may have ended meanwhile
	if len(summary.Rows) != 2 || summary.Rows[0] != all.Summary.Rows[0] || summary.Rows[0].State != "loaded" || !summary.Rows[0].OK {
		t.Errorf("two rows: %+v", summary.Rows)
	}
	if summary := adminValue[statusapi.Summary](s, ""); len(summary.Sites) != n || len(summary.Rows) != 0 {
		t.Errorf("%d sites, %d rows", len(summary.Sites), len(summary.Rows))
	}
}
