package crawler_test

import (
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// Each User-Agent of clients.tsv has its class and its row.
func TestKnownClients(t *testing.T) {
	m := crawler.Builtin().Matcher(nil)
	for _, row := range rows(t, "clients.tsv", 3) {
		var id crawler.Identity
		m.Identify(row[0], &id)
		name := ""
		if id.Len() > 0 && id.At(0).Crawler != nil {
			name = id.At(0).Crawler.Name
		}
		if id.Class().String() != row[1] || name != row[2] || id.Len() > 1 {
			t.Errorf("%q is %v, want %s %s", row[0], agents(&id), row[1], row[2])
		}
	}
}

// A group that names a probe does not make it a crawler.
func TestProbesThatAGroupNames(t *testing.T) {
	m := crawler.Builtin().Matcher([]string{"acme-probe", "acme", "kube-probe", "other"})
	for _, c := range []struct {
		ua    string
		class crawler.Class
		token string
	}{
		{"acme-probe/1.0", crawler.Probe, "acme-probe"},
		{"Acme-Probe", crawler.Probe, "acme-probe"},
		{"acme-probe/1.0 Go-http-client/1.1", crawler.Probe, "acme-probe"},
		{"kube-probe/1.31", crawler.Probe, "kube-probe"},
		{"other-probe/1.0", crawler.Probe, "other-probe"},
		{"acme-probe/1.0 AcmeBot/1.0", crawler.Named, "acme-probe"},
		{"client acme-probe/1.0", crawler.Named, "acme-probe"},
		{"other/1.0", crawler.Named, "other"},
	} {
		var id crawler.Identity
		m.Identify(c.ua, &id)
		if id.Len() != 1 || id.Class() != c.class || id.At(0).Token != c.token {
			t.Errorf("%q is %v, want %s of class %v", c.ua, agents(&id), c.token, c.class)
		}
	}
}

func TestRowsOfProgramsAndProbesCountPerAddress(t *testing.T) {
	rows, err := crawler.ReadRows([]byte(`{"name":"AcmeTool","class":"program"}
{"name":"AcmeWatch","class":"probe","run_by":"operator"}
{"name":"AcmeMirror","class":"program","run_by":"operator"}`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := crawler.Builtin().With(rows...)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ua    string
		class crawler.Class
		want  bool
	}{
		{"AcmeTool/1.0 (+https://acme.example)", crawler.Program, true},
		{"AcmeWatch/1.0 (+https://acme.example)", crawler.Probe, true},
		{"AcmeMirror/1.0 (+https://acme.example)", crawler.Program, false},
		{"Terraform/1.9.5 (+https://www.terraform.io)", crawler.Program, true},
	} {
		var id crawler.Identity
		r.Matcher(nil).Identify(c.ua, &id)
		if id.Len() != 1 || id.Class() != c.class || id.At(0).RunByAnyone() != c.want {
			t.Errorf("%q: %v, RunByAnyone %v, want %v %v", c.ua, agents(&id), id.Len() > 0 && id.At(0).RunByAnyone(), c.class, c.want)
		}
	}
}
