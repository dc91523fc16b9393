package managed_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// answer is a source that serves all origins.
type answer judge.Response

func (a answer) Fetch(context.Context, judge.Origin) (judge.Response, error) {
	return judge.Response(a), nil
}

func (answer) PerOrigin() bool { return false }

// If the lines of the policy can't be published, the site's own file is in
// force, and MergeError says why.
func TestMergeError(t *testing.T) {
	policy := &managed.Policy{Deny: []managed.Statement{{Values: []string{"ai-training"}, Line: 21}}}
	for _, tt := range []struct {
		answer    answer
		outcome   judge.Outcome
		published bool
		err       string
	}{
		{answer{Status: 200, Body: []byte(fake.Site)}, judge.Loaded, true, ""},
		{answer{Status: 200, Body: []byte(fake.Site), Apart: true}, judge.Loaded, false, "do not come through"},
		{answer{Status: 404}, judge.Missing, true, ""},
		{answer{Status: 200, Body: []byte("<html>")}, judge.NotRobots, true, ""},
		{answer{Status: 500}, judge.Failed, true, ""},
		{answer{Status: 200, Body: []byte(strings.Repeat("#\n", 300_000))}, judge.Loaded, false, "500 KiB"},
	} {
		e, err := enforce.NewEngine(judge.Settings{Edit: policy.Additions}, tt.answer, throttle.NewMemory(16), nil, origins.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		e.Origins().Prefetch(context.Background(), &judge.Request{Time: time.Now()})
		p := e.Origins().Peek(&judge.Request{Time: time.Now()})
		if p.Outcome() != tt.outcome || p.Published() != tt.published || (p.MergeError() == nil) != (tt.err == "") || tt.err != "" && !strings.Contains(p.MergeError().Error(), tt.err) {
			t.Errorf("%v: published %v, error %v; want %v, %v, %q", p.Outcome(), p.Published(), p.MergeError(), tt.outcome, tt.published, tt.err)
		}
		if tt.published != (managed.MergedIn(p) != nil) {
			t.Errorf("%v: the merge is %v", p.Outcome(), managed.MergedIn(p))
		}
		if p := e.Origins().Pending(); !p.Published() || p.MergeError() != nil {
			t.Errorf("before the first fetch: published %v, error %v", p.Published(), p.MergeError())
		}
	}
}
