package crawler

import "testing"

// Each rule has an example, and a User-Agent that it does not fit.
func TestRules(t *testing.T) {
	m := Builtin().Matcher(nil)
	by := func(ua string, r *rule) bool {
		var id Identity
		m.Identify(ua, &id)
		return id.n == 1 && id.agents[0].Class == r.class && id.agents[0].Reason == r.reason
	}
	for i := range rules {
		r := &rules[i]
		if r.near == row && i >= nearRows {
			t.Errorf("rule %d is behind nearRows", i)
		}
		if !by(r.fits, r) {
			t.Errorf("rule %d does not fit %s", i, r.fits)
		}
		if by(r.not, r) {
			t.Errorf("rule %d fits %s", i, r.not)
		}
	}
}
