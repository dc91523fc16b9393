package commands_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/test/commandline"
)

// With --host, a log of several clients gives each a report and suggestions that have
// nothing of the others. Hosts with the same robots.txt are one site.
func TestAuditOneReportPerClient(t *testing.T) {
	var asked []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		robotsOf(fmt.Sprintf("User-agent: *\nDisallow: /of-%t/\n", strings.HasPrefix(r.Host, "localhost")), &asked)(w, r)
	}))
	defer srv.Close()
	first := srv.Listener.Addr().String()
	second := "localhost" + first[strings.LastIndex(first, ":"):]
	var text strings.Builder
	for i := range 8 * 100 { // on four days
		for _, site := range []struct{ host, target, agent string }{
			{first, "/first/%d", "GPTBot/1.2"}, {second, "/second/%d", "AhrefsBot/7.0"}, {"www." + second, "/www/%d", "AhrefsBot/7.0"},
		} {
			fmt.Fprintf(&text, `{"ts":%d,"logger":"http.log.access","request":{"client_ip":"198.51.100.%d","method":"GET","host":%q,"uri":%q,"headers":{"User-Agent":[%q]}},"duration":1,"size":5000,"status":200}`+"\n",
				1794052800+i*500, i%60, site.host, fmt.Sprintf(site.target, i), site.agent)
		}
	}
	text.WriteString("GET /second/unreadable\n")
	log := filepath.Join(t.TempDir(), "access.log")
	writeText(t, log, text.String())

	r, _ := audited(t, "", "--host", first, "--suggest", log)
	if len(r.Suggestions) == 0 || r.Requests != 800 || r.Other != 1600 || !hasRules(r, "Disallow: /of-false/") {
		t.Errorf("%d suggestions, %d requests, sections %+v", len(r.Suggestions), r.Requests, r.Tables)
	}
	status, stdout, stderr := commandline.Run("", "audit", "--host", first, "--suggest", "--full", "--json", log)
	for _, other := range []string{"/second/", "www", "Ahrefs"} {
		if status != 0 || strings.Contains(stdout, other) {
			t.Errorf("status %d: the report has %q: %s", status, other, stderr)
		}
	}
	srv.Config.Handler = robotsOf("User-agent: *\nDisallow: /same/\n", &asked)
	if r, _ := audited(t, "", "--host", first, "--host", second, "--suggest", log); len(r.Suggestions) == 0 || r.Requests != 1600 || !hasRules(r, "Disallow: /same/") {
		t.Errorf("the same file: %d suggestions, %d requests, sections %+v", len(r.Suggestions), r.Requests, r.Tables)
	}
}

// hasRules reports whether one robots.txt judged, which has a line.
func hasRules(r *audit.Report, line string) bool {
	files, has := 0, false
	for _, table := range r.Tables {
		if table.Name == "robots_txt" {
			files++
			has = strings.Contains(fmt.Sprint(table.Rows), line)
		}
	}
	return files == 1 && has
}
