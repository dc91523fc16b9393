package page

import (
	"testing"
)

func TestStrange(t *testing.T) {
	for _, test := range []struct {
		max     int
		s, want string
	}{
		{10, "plain", "plain"},
		{10, `<b>&"'`, "&lt;b&gt;&amp;&#34;&#39;"},
		{10, "a\x1b[2J", `a<span class="escape">\x1b</span>[2J`},
		{10, "\u202e\xff", `<span class="escape">\u202e</span><span class="escape">\xff</span>`},
		{3, "abcdef", `abc<span class="more" title="cut here">…</span>`},
		{3, "äöü", "äöü"},
		{1, "", ""},
	} {
		if got := string(strange(test.max, test.s)); got != test.want {
			t.Errorf("strange(%d, %q) = %s, want %s", test.max, test.s, got, test.want)
		}
	}
	if got := plain(4, "a\x00b\x00c"); got != `a\x00b\x00…` {
		t.Errorf("plain: %s", got)
	}
}

func TestShare(t *testing.T) {
	for _, test := range []struct {
		part, whole int64
		want        string
	}{
		{0, 10, "0 %"}, {1, 100_000, "< 0.1 %"}, {65, 1000, "6.5 %"}, {999, 1000, "> 99 %"}, {10, 10, "100 %"}, {5, 0, "–"}, {-1, 5, "0 %"},
	} {
		if got := share(test.part, test.whole); got != test.want {
			t.Errorf("share(%d, %d) = %s, want %s", test.part, test.whole, got, test.want)
		}
	}
}
