package throttle

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/robots"
)

// A span, and limits with a Visit-time, agree with robots.Window.
func TestSpanAgreesWithWindow(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		w := robots.Window{From: rnd.IntN(minutesPerDay), To: rnd.IntN(minutesPerDay)}
		switch rnd.IntN(8) {
		case 0:
			w.To = w.From
		case 1:
			w.To = (w.From + minutesPerDay - 1) % minutesPerDay
		case 2:
			w.From = 0
		case 3:
			w.To = minutesPerDay - 1
		}
		s, ok := newSpan(w)
		if !ok || s.always() != w.Always() {
			t.Fatalf("newSpan(%v) = %v, %t", w, s, ok)
		}
		var visits Limits
		visits.setVisits([]robots.VisitTime{{Window: w, Line: 7}})
		for m := range int32(minutesPerDay) {
			at := noon.Truncate(24 * time.Hour).Add(time.Duration(m)*time.Minute + time.Duration(rnd.Int64N(int64(time.Minute))))
			us := at.UnixMicro()
			if got := minuteOfDay(us); got != m {
				t.Fatalf("minuteOfDay(%v) = %d, want %d", at, got, m)
			}
			if open := contains(w, at); s.open(m) != open || (len(visits.visits) == 0 || visits.inVisit(m)) != open {
				t.Fatalf("%v at %v: span %t, visit %t, window %t", w, at, s.open(m), visits.inVisit(m), open)
			}
			if want := nextOpening(w, at); !want.Equal(at) {
				v := visits.earliest(us, new(State))
				if v != (verdict{at: want.UnixMicro(), reason: VisitTime, line: 7}) {
					t.Fatalf("%v at %v opens at %v by line %d, want %v by line 7", w, at, time.UnixMicro(v.at).UTC(), v.line, want)
				}
			}
			if s.open(m) && !s.always() {
				if closes, want := s.closes(us), nextClosing(w, at); closes != want.UnixMicro() {
					t.Fatalf("%v at %v closes at %v, want %v", w, at, time.UnixMicro(closes).UTC(), want)
				}
			}
		}
	}
}

// A span covers another if it is open at each minute of the other.
func TestSpanCoversAnotherSpan(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		from, to := rnd.IntN(minutesPerDay), rnd.IntN(minutesPerDay)
		a, _ := newSpan(robots.Window{From: from, To: to})
		b, _ := newSpan(robots.Window{From: (from + rnd.IntN(5) - 2 + minutesPerDay) % minutesPerDay, To: (to + rnd.IntN(5) - 2 + minutesPerDay) % minutesPerDay})
		want := true
		for m := range int32(minutesPerDay) {
			want = want && (a.open(m) || !b.open(m))
		}
		if got := a.covers(b); got != want {
			t.Fatalf("%v.covers(%v) = %t, want %t", a, b, got, want)
		}
	}
}

// nextOpening returns the first time at or after t at which a window is open.
func nextOpening(w robots.Window, t time.Time) time.Time {
	if contains(w, t) {
		return t
	}
	return nextMinute(t.Add(-time.Nanosecond), w.From)
}

// nextClosing returns the time after t at which a window closes next: the end
// of its minute To.
func nextClosing(w robots.Window, t time.Time) time.Time {
	return nextMinute(t, (w.To+1)%minutesPerDay)
}

// nextMinute returns the first time after t at which a minute of the day begins.
func nextMinute(t time.Time, minute int) time.Time {
	t = t.UTC()
	next := time.Date(t.Year(), t.Month(), t.Day(), minute/60, minute%60, 0, 0, time.UTC)
	if !next.After(t) {
		next = next.AddDate(0, 0, 1)
	}
	return next
}

// contains reports whether a window is open at t.
func contains(w robots.Window, t time.Time) bool {
	if w.Always() {
		return true
	}
	hour, minute, _ := t.UTC().Clock()
	m := 60*hour + minute
	if w.From < w.To {
		return w.From <= m && m <= w.To
	}
	return m >= w.From || m <= w.To
}
