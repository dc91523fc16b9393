package words

import (
	"math"
	"testing"
)

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		Count(1234567): "1,234,567", Count(int64(-5)): "-5",
		Plural(0, "line", "lines"): "0 lines", Plural(1, "line", "lines"): "1 line", Plural(int64(1234), "line", "lines"): "1,234 lines",
		List([]string{"a", "b"}, 2): "a, b", List([]string{"a", "b", "c"}, 2): "a, b and 1 more", List(nil, 2): "",
		Octets(0): "0 B", Octets(1900): "1.9 kB", Octets(-1): "0 B",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestContainsFold(t *testing.T) {
	if list := []string{"", "Bing"}; !ContainsFold(list, "bing") || ContainsFold(list, "") || ContainsFold(nil, "bing") {
		t.Error("ContainsFold does not find the word, or finds another one")
	}
}

func TestSeconds(t *testing.T) {
	for s, want := range map[float64]string{
		0: "0 s", 0.001: "1 ms", 1560: "26 min", 0.4: "400 ms", 1: "1 s", 9.96: "10 s", 17.8: "18 s", 60: "60 s", 600: "10 min", 3600: "60 min",
		86400: "24 h", 604800: "7 days", 1e12: "11,574,074 days", math.Inf(1): "?",
	} {
		if got := Seconds(s); got != want {
			t.Errorf("Seconds(%v) = %s, want %s", s, got, want)
		}
	}
	if got := Seconds(math.NaN()); got != "?" {
		t.Errorf("Seconds(NaN) = %s", got)
	}
}
