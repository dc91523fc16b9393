package origins

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// Several engines share one limit of memory. Each keeps at least one policy.
func TestCeilingOfSeveralEngines(t *testing.T) {
	ceiling := NewCeiling(4 << 20)
	all := []*originsTest{newOriginsTest(t, Config{Ceiling: ceiling}), newOriginsTest(t, Config{Ceiling: ceiling})}
	for i := range 200 {
		for j, p := range all {
			p.source.Set(200, fmt.Sprintf("User-agent: *\nDisallow: /%d/\n%s", i*2+j, strings.Repeat("# filler\n", 1000)))
			if rules := p.rulesAfterFetch(judge.Origin{Host: fmt.Sprintf("h%d.test", i)}); rules == nil || rules.Outcome() != judge.Loaded {
				t.Fatalf("engine %d, host %d: the newest rules is not in force", j, i)
			}
		}
		if used := ceiling.used.Load(); used > 4<<20+2*300<<10 {
			t.Fatalf("%d octets are used after %d hosts", used, i)
		}
	}
	for _, p := range all {
		if p.Len() == 0 {
			t.Error("an engine has no rules left")
		}
		p.Close()
	}
	if used := ceiling.used.Load(); used != 0 {
		t.Errorf("%d octets are used after all are closed", used)
	}
}
