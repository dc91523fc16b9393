package enforce

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/robots"
)

// Several engines share one limit of memory. Each keeps at least one policy.
func TestCeilingOfSeveralEngines(t *testing.T) {
	ceiling := NewCeiling(4 << 20)
	all := []*originsTest{newOriginsTest(t, Config{Ceiling: ceiling}), newOriginsTest(t, Config{Ceiling: ceiling})}
	for i := range 200 {
		for j, p := range all {
			p.source.set(200, fmt.Sprintf("User-agent: *\nDisallow: /%d/\n%s", i*2+j, strings.Repeat("# filler\n", 1000)))
			if rules := p.rulesAfterFetch(Origin{Host: fmt.Sprintf("h%d.test", i)}); rules == nil || rules.Outcome() != Loaded {
				t.Fatalf("engine %d, host %d: the newest rules is not in force", j, i)
			}
		}
		if used := ceiling.used.Load(); used > 4<<20+2*300<<10 {
			t.Fatalf("%d octets are used after %d hosts", used, i)
		}
	}
	for _, p := range all {
		if p.size() == 0 {
			t.Error("an engine has no rules left")
		}
		p.close()
	}
	if used := ceiling.used.Load(); used != 0 {
		t.Errorf("%d octets are used after all are closed", used)
	}
}

// The estimate is at least half of the memory that a policy takes, and at most
// four times as much.
func TestEstimateOfRulesMemory(t *testing.T) {
	for name, text := range map[string]string{
		"small":     "User-agent: *\nDisallow: /private/\n",
		"prefixes":  "User-agent: *\n" + manyRules("/section%d/page", 5000),
		"wildcards": "User-agent: *\n" + manyRules("/*part%d*end$", 5000),
		"groups":    manyRules("/x\n\nUser-agent: bot%d\nDisallow: /y", 2000),
	} {
		const n = 8
		var kept []*Rules
		before := heap()
		for i := range n {
			rules, err := Settings{}.Rules(Response{Status: 200, Body: fmt.Appendf(nil, "%s# %d\n", text, i)})
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, rules)
		}
		took := (heap() - before) / n
		estimate := kept[0].memory()
		t.Logf("%s: %d octets of text take %d, estimated %d", name, len(text), took, estimate)
		if took > 2*estimate || estimate > 4*took+64<<10 {
			t.Errorf("%s: %d octets of text take %d, estimated %d", name, len(text), took, estimate)
		}
		runtime.KeepAlive(kept)
	}
}

func manyRules(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Disallow: "+format+"\n", i)
	}
	return b.String()[:min(b.Len(), robots.MaxSize)]
}

// heap returns the octets that are in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
