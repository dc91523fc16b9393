package origins

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
	"github.com/caddy-robots/caddy-robots/robots"
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

// The estimate is within a tenth of the heap that the origins take when crawlers of
// all groups have come.
func TestEstimateOfMemory(t *testing.T) {
	for _, tt := range []struct {
		name  string
		hosts int
		text  string
	}{
		{"small", 3000, "User-agent: *\nDisallow: /private/\n"},
		{"usual", 1000, fake.Site + "User-agent: OwnBot\nUser-agent: GPTBot\nCrawl-delay: 5\n" + manyRules("/shop%d/cart", 30) + manyRules("/*?sort%d=", 9)},
		{"prefixes", 8, "User-agent: *\n" + manyRules("/section%d/page", 5000)},
		{"wildcards", 8, "User-agent: *\n" + manyRules("/*part%d*end$", 5000)},
		{"groups", 8, manyRules("/x\n\nUser-agent: bot%d-$HOST\nDisallow: /y", 2000)},
		{"Google's reading", 300, "User-agent: *\nAllow: /a/index.html\n" + manyRules("/section%d/page", 100)},
	} {
		var took, estimate int64
		for range 5 { // something else can allocate meanwhile
			ceiling := NewCeiling(1 << 40)
			p := newOriginsTest(t, Config{
				Ceiling: ceiling, MaxOrigins: tt.hosts, Copies: new(Copies), Histories: new(Histories), Handler: func() HandlerKey { return HandlerKey{} },
			})
			p.Connect()
			p.source.Reads, p.seen = make(map[judge.Origin]int, tt.hosts), fake.NewRecorder[FetchEvent]()
			p.Table.cfg.Fetched = func(FetchEvent) {}
			before := fake.Heap()
			for i := range tt.hosts {
				p.source.Set(200, fmt.Sprintf("%s# %d", strings.ReplaceAll(tt.text, "$HOST", strconv.Itoa(i)), i))
				p.rulesAfterFetch(judge.Origin{Host: fmt.Sprintf("h%d.test", i)})
			}
			p.All(func(_ judge.Origin, rules *judge.Rules) {
				for _, g := range rules.File().Groups() {
					g.Match("/")
				}
				var d judge.Decision // compiles a group as google/robotstxt reads it
				rules.Check(&judge.Request{Target: "/section5/page", UserAgents: []string{fake.Googlebot}}, &d)
			})
			took = fake.Heap() - before
			estimate, _ = ceiling.Usage()
			p.Close()
			if took-estimate < estimate/10 && estimate-took < estimate/10 {
				break
			}
		}
		t.Logf("%s: %d hosts with files of %d octets take %d octets each, estimated %d", tt.name, tt.hosts, len(tt.text), took/int64(tt.hosts), estimate/int64(tt.hosts))
		if took-estimate > estimate/10 || estimate-took > estimate/10 {
			t.Errorf("%s: %d octets, estimated %d", tt.name, took, estimate)
		}
	}
}

func manyRules(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Disallow: "+format+"\n", i)
	}
	return b.String()[:min(b.Len(), robots.MaxSize)]
}
