package words

import "testing"

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
