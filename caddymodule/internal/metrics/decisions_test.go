package metrics

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	zapobserver "go.uber.org/zap/zaptest/observer"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

func TestRefusalsAreLoggedOncePerInterval(t *testing.T) {
	core, logs := zapobserver.New(zap.InfoLevel)
	registry := crawler.Builtin()
	counts := NewDecisions(registry, zap.New(core), func() string { return "*" })
	q := &judge.Request{Target: "/" + strings.Repeat("y", 10_000), Time: time.Unix(1e9, 0)}
	d := &judge.Decision{Action: judge.Deny, Reason: judge.Disallowed, Subject: judge.Subject{Agent: crawler.Agent{Class: crawler.Registered, Crawler: registry.Lookup("GPTBot")}}}
	r := &http.Request{Host: "example.com", Header: http.Header{"User-Agent": {strings.Repeat("x", 10_000)}}}
	for i := range 1000 { // at hosts that a client has invented
		q.Origin.Host = fmt.Sprintf("h%d.test", i)
		counts.Count(q, d, r)
	}
	if logs.Len() != 1 {
		t.Fatalf("%d lines for a thousand denials at once, want 1", logs.Len())
	}
	q.Time = q.Time.Add(lineRates.Each)
	counts.Count(q, d, r)
	all := logs.All()
	if len(all) != 2 || all[1].ContextMap()["not_logged"] != int64(999) {
		t.Errorf("the second line: %v", all[len(all)-1].ContextMap())
	}
	for _, f := range []string{"uri", "user_agent"} {
		if got, _ := all[0].ContextMap()[f].(string); len(got) > maxLogged {
			t.Errorf("%s has %d octets in the log", f, len(got))
		}
	}
}

func TestCountAllocatesNothing(t *testing.T) {
	registry := crawler.Builtin()
	counts := NewDecisions(registry, zap.NewNop(), func() string { return "*" })
	q, r := &judge.Request{Time: time.Unix(1e9, 0)}, new(http.Request)
	d := &judge.Decision{Reason: judge.Allowed, Subject: judge.Subject{Agent: crawler.Agent{Class: crawler.Registered, Crawler: registry.Lookup("GPTBot")}}}
	d.Claim = claim.Result{State: claim.Verified, Method: claim.DNSMethod}
	if n := testing.AllocsPerRun(100, func() { counts.Count(q, d, r) }); n != 0 {
		t.Errorf("%v allocations for each decision, want 0", n)
	}
}
