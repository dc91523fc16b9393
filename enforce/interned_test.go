package enforce

import (
	"context"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// Engines with the same settings and files share what they compile, which counts
// once for the Ceiling. Without an ID, or with another registry, they do not.
func TestEqualSettingsShareRules(t *testing.T) {
	ceiling := origins.NewCeiling(1 << 40)
	load := func(s judge.Settings) (*Engine, *judge.Rules) {
		e, err := NewEngine(s, origins.Inline(fake.Site), throttle.NewMemory(1), nil, origins.Config{Ceiling: ceiling})
		if err != nil {
			t.Fatal(err)
		}
		return e, e.Origins().Load(context.Background())
	}
	one, rules := load(judge.Settings{ID: "same"})
	used, _ := ceiling.Usage()
	two, again := load(judge.Settings{ID: "same"})
	if both, _ := ceiling.Usage(); rules != again || both-used > 1000 {
		t.Errorf("rules are shared: %v; %d octets for one engine, %d for two", rules == again, used, both)
	}
	one.Close()
	if left, _ := ceiling.Usage(); left != used {
		t.Errorf("%d octets after one of them is closed, want %d", left, used)
	}
	changed, err := two.With(func(s *judge.Settings) { s.Monitor = true }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := changed.Origins().RulesOf(judge.Origin{}); r == rules || !r.Settings().Monitor {
		t.Error("the mode changed, and not the settings of the rules")
	}
	changed.Close()
	if left, _ := ceiling.Usage(); left != 0 {
		t.Errorf("%d octets after all are closed", left)
	}
	for _, s := range []judge.Settings{{ID: "other"}, {}, {}} {
		e, other := load(s)
		defer e.Close()
		if other == rules {
			t.Errorf("other settings (ID %q) have the same rules", s.ID)
		}
		rules = other
	}
}
