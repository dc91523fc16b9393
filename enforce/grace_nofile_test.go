package enforce

import (
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// A crawler that gets 403 for /robots.txt may fetch everything until it reads the
// file again (RFC 9309, sections 2.3.1.3 and 2.4). So, once the last good copy is no
// longer in force, the answer counts as a version without rules.
func TestGraceAfterRefusedReads(t *testing.T) {
	g := newGraceTest(t, judge.Settings{}, origins.Config{})
	reread := func() {
		g.origins.Refetch(&judge.Request{Origin: fake.Home, Time: g.clock.Now()})
		g.origins.Settle()
	}
	g.source.Set(403, "")
	g.clock.Advance(time.Hour)
	reread()
	g.wants(judge.Disallowed, fake.Googlebot, "/private/x", "while the last good copy is in force")
	g.clock.Advance(24 * time.Hour)
	reread()
	g.clock.Advance(25 * time.Hour) // so that the earlier file is no version any more
	reread()
	g.wants(judge.NoRules, fake.Googlebot, "/private/x", "without a copy")
	g.change(open)
	g.wants(judge.Graced, fake.Googlebot, "/private/x", "after the repair")
	d := g.decideFrom(fake.Googlebot, "192.0.2.1", "/private/x")
	if p := d.Version.Rules; d.Version.Rules.Tag() != "" || p.Outcome() != judge.Forbidden || p.Status() != 403 {
		t.Errorf("version %q, %v, status %d", d.Version.Rules.Tag(), p.Outcome(), p.Status())
	}
	after, err := g.With(func(*judge.Settings) {}, nil)
	if err != nil {
		t.Fatal(err)
	}
	kept := (&graceTest{engineTest: &engineTest{Engine: after}}).earlier()
	if p := kept[0].Rules; p.Outcome() != judge.Forbidden || p.Status() != 403 {
		t.Errorf("after a reload: %v, status %d", p.Outcome(), p.Status())
	}
	g.reads(fake.Googlebot, "192.0.2.1")
	g.wants(judge.Disallowed, fake.Googlebot, "/private/x", "after it read the repaired file")
}
