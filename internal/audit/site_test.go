package audit

import (
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

// A request is judged by the rules of the site that its host belongs to.
func TestSites(t *testing.T) {
	sites := []Site{
		{Hosts: []string{"example.com"}, Robots: []Version{robotsVersion("a", "User-agent: *\nDisallow: /private/\n")}},
		{Hosts: []string{"*.example.com"}, Rules: enforce.Settings{HTTPClients: true}, Robots: []Version{robotsVersion("b", "User-agent: *\nAllow: /\n")}},
	}
	r := mustRun(t, Options{Files: []logfile.File{onDisk("caddy.log")}, Sites: sites})
	if r.WouldHave.Denied != 2 || crawlerOf(t, r, "GPTBot").Denied != 0 || r.Sources[0].Requests != 12 || r.Sources[1].Requests != 2 {
		t.Errorf("%+v %+v", r.WouldHave, r.Sources)
	}
	r = mustRun(t, Options{Files: []logfile.File{onDisk("caddy.log")}, Sites: sites[:1]})
	if r.WouldHave.Judged != 12 || !warned(r, "partly_judged") || r.Hosts[1].Known {
		t.Errorf("%+v %+v", r.WouldHave, r.Hosts)
	}
}
