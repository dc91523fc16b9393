package page

import (
	"math"
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

func TestSeconds(t *testing.T) {
	for s, want := range map[float64]string{
		0: "0 s", 0.001: "1 ms", 0.4: "400 ms", 1: "1 s", 9.96: "10 s", 17.8: "18 s", 60: "60 s", 600: "10 min", 3600: "60 min",
		86400: "24 h", 604800: "7 days", 1e12: "11,574,074 days", math.Inf(1): "?",
	} {
		if got := seconds(s); got != want {
			t.Errorf("seconds(%v) = %s, want %s", s, got, want)
		}
	}
	if got := seconds(math.NaN()); got != "?" {
		t.Errorf("seconds(NaN) = %s", got)
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
