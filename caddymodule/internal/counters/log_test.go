package counters

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	zapobserver "go.uber.org/zap/zaptest/observer"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

func TestRefusalsAreLoggedOncePerInterval(t *testing.T) {
	core, logs := zapobserver.New(zap.InfoLevel)
	clock := newTestClock()
	site, log := New(clock.now).Site("*"), NewLog(zap.New(core), func() string { return "*" })
	refuse := func(host string, at time.Time) {
		site.Count(decision(gptbot, judge.Disallowed), &Request{
			Time: at, Origin: judge.NewOrigin("http", host, 80), Target: "/" + strings.Repeat("y", 10_000),
			UserAgents: []string{strings.Repeat("x", 10_000)}, Log: log,
		})
	}
	for i := range 1000 { // at hosts that a client has invented
		refuse(fmt.Sprintf("h%d.test", i), clock.now())
	}
	if logs.Len() != 1 {
		t.Fatalf("%d lines for a thousand denials at once, want 1", logs.Len())
	}
	refuse("h.test", clock.now().Add(lineRates.Each))
	all := logs.All()
	if len(all) != 2 || all[1].ContextMap()["not_logged"] != int64(999) {
		t.Errorf("the second line: %v", all[len(all)-1].ContextMap())
	}
	for _, f := range []string{"uri", "user_agent"} {
		if got, _ := all[0].ContextMap()[f].(string); len(got) > 256 {
			t.Errorf("%s has %d octets in the log", f, len(got))
		}
	}
}
