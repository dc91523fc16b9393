package judge

import (
	"runtime"
	"testing"
	"weak"
)

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
