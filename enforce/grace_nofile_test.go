package enforce

import (
	"testing"
	"time"
)

// A crawler that gets 403 for /robots.txt may fetch everything until it reads the
// file again (RFC 9309, sections 2.3.1.3 and 2.4). So, once the last good copy is no
// longer in force, the answer counts as a version without rules.
func TestGraceAfterRefusedReads(t *testing.T) {
	g := newGraceTest(t, Settings{}, Config{})
	reread := func() {
		g.origins.Refetch(&Request{Origin: home, Time: g.clock.now()})
		g.origins.Settle()
	}
	g.source.set(403, "")
	g.clock.advance(time.Hour)
	reread()
	g.wants(Disallowed, googlebot, "/private/x", "while the last good copy is in force")
	g.clock.advance(24 * time.Hour)
	reread()
	g.clock.advance(25 * time.Hour) // so that the earlier file is no version any more
	reread()
	g.wants(NoRules, googlebot, "/private/x", "without a copy")
	g.change(open)
	g.wants(Graced, googlebot, "/private/x", "after the repair")
	d := g.decideFrom(googlebot, "192.0.2.1", "/private/x")
	if p := d.Version.Rules; d.Version.Rules.Tag() != "" || p.Outcome() != Forbidden || p.Status() != 403 {
		t.Errorf("version %q, %v, status %d", d.Version.Rules.Tag(), p.Outcome(), p.Status())
	}
	after, err := g.With(func(*Settings) {}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	kept := (&graceTest{engineTest: &engineTest{Engine: after}}).earlier()
	if p := kept[0].Rules; p.Outcome() != Forbidden || p.Status() != 403 {
		t.Errorf("after a reload: %v, status %d", p.Outcome(), p.Status())
	}
	g.reads(googlebot, "192.0.2.1")
	g.wants(Disallowed, googlebot, "/private/x", "after it read the repaired file")
}
