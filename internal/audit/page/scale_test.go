package page

import (
	"math"
	"slices"
	"testing"
	"time"
)

// For every period, the labels are at round times and fit on a phone.
func TestTicks(t *testing.T) {
	start := time.Date(2026, 11, 1, 0, 3, 12, 0, time.UTC)
	for _, test := range []struct {
		length time.Duration
		want   []string
	}{
		{0, nil},
		{90 * time.Second, []string{"00:03:30", "00:04:00", "00:04:30"}},
		{time.Hour, []string{"00:15", "00:30", "00:45", "01:00"}},
		{24 * time.Hour, []string{"06:00", "12:00", "18:00", "2 Nov"}},
		{7 * 24 * time.Hour, []string{"3 Nov", "5 Nov", "7 Nov"}},
		{30 * 24 * time.Hour, []string{"8 Nov", "15 Nov", "22 Nov", "29 Nov"}},
		{120 * 24 * time.Hour, []string{"Jan 2027", "Mar 2027"}},
		{3 * 365 * 24 * time.Hour, []string{"2027", "2028", "2029"}},
		{100 * 365 * 24 * time.Hour, []string{"2047", "2068", "2089", "2110"}},
	} {
		s := span{start, start.Add(test.length)}
		var got []string
		for _, tick := range s.ticks() {
			got = append(got, tick.Label)
			if x := len(tick.X); x == 0 || tick.X[x-1] != '%' {
				t.Errorf("%v: tick at %q", test.length, tick.X)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%v: %q, want %q", test.length, got, test.want)
		}
	}
	for length := time.Second; length < 200*365*24*time.Hour; length += length/7 + time.Second {
		if got := len(span{start, start.Add(length)}.ticks()); got > maxTicks+1 {
			t.Errorf("%v has %d ticks", length, got)
		}
	}
}

// For every number, a coordinate is a percentage within the chart.
func TestPercent(t *testing.T) {
	for _, test := range []struct {
		part, whole float64
		want        string
	}{
		{1, 4, "25%"}, {1, 3, "33.33%"}, {0, 1, "0%"}, {5, 4, "100%"}, {-1, 4, "0%"}, {1, 0, "0%"}, {1, -1, "0%"},
		{math.NaN(), 1, "0%"}, {1, math.NaN(), "0%"}, {math.Inf(1), 1, "0%"}, {1, math.Inf(1), "0%"},
	} {
		if got := percent(test.part, test.whole); got != test.want {
			t.Errorf("percent(%v, %v) = %s, want %s", test.part, test.whole, got, test.want)
		}
	}
}

// The parts of a bar do not overlap, and small parts are visible.
func TestBars(t *testing.T) {
	for _, test := range []struct {
		whole int64
		parts []part
		want  []bar
	}{
		{100, []part{{"a", 50}, {"b", 25}}, []bar{{"a", "0%", "50%"}, {"b", "50%", "25%"}}},
		{100, []part{{"a", 0}, {"b", 100}}, []bar{{"b", "0%", "100%"}}},
		{1_000_000, []part{{"a", 1}, {"b", 999_999}}, []bar{{"a", "0%", "1%"}, {"b", "1%", "100%"}}},
		{1_000_000, []part{{"a", 999_999}, {"b", 1}}, []bar{{"a", "0%", "100%"}, {"b", "99%", "1%"}}},
		{0, []part{{"a", 1}}, nil},
		{10, []part{{"a", -5}}, nil},
	} {
		if got := bars(test.whole, test.parts...); !slices.Equal(got, test.want) {
			t.Errorf("bars(%d, %v) = %v, want %v", test.whole, test.parts, got, test.want)
		}
	}
}

func TestCurve(t *testing.T) {
	for _, test := range []struct {
		list []int64
		most int64
		want string
	}{
		{[]int64{0, 5, 10, 10}, 10, "M0 100V100H1V50H2V0H4V100Z"},
		{[]int64{1}, 1000, "M0 100V99H1V100Z"}, // a single request is visible
		{[]int64{-1, 20}, 10, "M0 100V100H1V0H2V100Z"},
		{[]int64{0, 0}, 0, "M0 100V100H2V100Z"},
	} {
		if got := curve(test.list, test.most); got != test.want {
			t.Errorf("curve(%v, %d) = %s, want %s", test.list, test.most, got, test.want)
		}
	}
}
