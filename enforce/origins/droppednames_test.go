package origins

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// What is kept of evicted files is bounded, and invented hosts displace no others.
func TestDroppedNamesAreBounded(t *testing.T) {
	p := newOriginsTest(t, Config{MaxOrigins: 1})
	p.source.Set(200, "User-agent: OwnReader\nDisallow: /\n")
	p.rulesAfterFetch(fake.Home)
	var file strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&file, "User-agent: Reader%d\nDisallow: /\n", i)
	}
	rules, err := judge.Settings{}.Rules(judge.Response{Status: 200, Body: []byte(file.String())})
	if err != nil {
		t.Fatal(err)
	}
	names := rules.Names(p.pending)
	most := maxDroppedSize / int(names.Size())
	for i := range 3 * most {
		r := p.request(judge.Origin{Host: fmt.Sprint(i)})
		r.Invented = true
		p.find(r)
		p.dropped[1].put(r.Origin, names, maxDroppedSize)
		if p.dropped[1].octets > maxDroppedSize {
			t.Fatalf("%d octets", p.dropped[1].octets)
		}
	}
	if len(p.dropped[0].values) != 1 || p.dropped[0].octets > 2000 || len(p.dropped[1].values) < most/2 {
		t.Errorf("%d and %d names, %d octets", len(p.dropped[0].values), len(p.dropped[1].values), p.dropped[0].octets)
	}
	p.find(p.request(fake.Home))
	if len(p.dropped[0].values) != 0 || p.dropped[0].octets != 0 {
		t.Error("names are kept beside the entry")
	}
}
