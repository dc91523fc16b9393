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
