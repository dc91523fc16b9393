package enforce

import (
	"context"
	"runtime"
	"testing"
	"weak"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// Engines with the same settings and files share what they compile, which counts
// once for the Ceiling. Without an ID, or with another registry, they do not.
func TestEqualSettingsShareRules(t *testing.T) {
	ceiling := NewCeiling(1 << 40)
	load := func(s Settings) (*Engine, *Rules) {
		e, err := NewEngine(s, Inline(site), throttle.NewMemory(1), nil, Config{Ceiling: ceiling})
		if err != nil {
			t.Fatal(err)
		}
		return e, e.Origins().Load(context.Background())
	}
	one, rules := load(Settings{ID: "same"})
	used, _ := ceiling.Usage()
	two, again := load(Settings{ID: "same"})
	if both, _ := ceiling.Usage(); rules != again || both != used+entrySize {
		t.Errorf("rules are shared: %v; %d octets for one engine, %d for two", rules == again, used, both)
	}
	one.Close()
	if left, _ := ceiling.Usage(); left != used {
		t.Errorf("%d octets after one of them is closed, want %d", left, used)
	}
	changed, err := two.With(func(s *Settings) { s.Monitor = true }, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := changed.Origins().of(Origin{}); r == rules || !r.settings.Monitor {
		t.Error("the mode changed, and not the settings of the rules")
	}
	changed.Close()
	if left, _ := ceiling.Usage(); left != 0 {
		t.Errorf("%d octets after all are closed", left)
	}
	for _, s := range []Settings{{ID: "other"}, {}, {}} {
		e, other := load(s)
		defer e.Close()
		if other == rules {
			t.Errorf("other settings (ID %q) have the same rules", s.ID)
		}
		rules = other
	}
}

// Files that name the same crawlers share the matcher, which does not keep the text
// of a file in memory.
func TestEqualNamesShareTheMatcher(t *testing.T) {
	settings := mustCompile(t, Settings{})
	text := []byte("User-agent: OwnReader\nUser-agent: Mozilla\nDisallow: /a\n")
	kept := weak.Make(&text[0])
	one := settings.documentOf(text)
	two := settings.documentOf([]byte("User-agent: OwnReader\nUser-agent: Mozilla\nDisallow: /b\n"))
	if one.matcher != two.matcher || one.matcher == settings.base {
		t.Errorf("matchers %p and %p, that of the registry %p", one.matcher, two.matcher, settings.base)
	}
	if other := settings.documentOf([]byte("User-agent: OtherReader\nDisallow: /a\n")); other.matcher == one.matcher {
		t.Error("files with other names have the same matcher")
	}
	if none := settings.documentOf([]byte("User-agent: GPTBot\nDisallow: /a\n")); none.matcher != settings.base {
		t.Error("a file that names no other crawlers has its own matcher")
	}
	matcher := one.matcher
	one, two, text = nil, nil, nil
	for i := 0; kept.Value() != nil; i++ {
		if runtime.GC(); i == 100 {
			t.Fatal("the text is in memory as long as its names")
		}
	}
	if got := matcher.Ignored(); len(got) != 1 || got[0] != "Mozilla" {
		t.Errorf("ignored: %q", got)
	}
}

// What nobody uses is forgotten.
func TestInternedValuesAreForgotten(t *testing.T) {
	var all interned[int, [64]byte]
	create := func() (*[64]byte, error) { return new([64]byte), nil }
	kept, _ := all.get(1, create)
	_, _ = all.get(2, create)
	for all.known(2) != nil {
		runtime.GC()
	}
	if again, _ := all.get(1, create); again != kept {
		t.Error("a value in use was made twice")
	}
	if again, _ := all.get(2, create); all.known(2) != again {
		t.Error("a value is not known after its predecessor was forgotten")
	}
	runtime.KeepAlive(kept)
}
