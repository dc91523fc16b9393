package suspect

import (
	"testing"
	"time"
)

// share gives all marks that one server has sent to others.
func share(from *Watch, to ...*Watch) {
	var marks []Mark
	for {
		select {
		case m := <-from.Raised():
			d, ok := DecodeMark(m.Encode(), m.Time)
			if ok {
				marks = append(marks, d)
			}
			continue
		default:
		}
		break
	}
	for _, w := range to {
		w.SetMarks(marks)
	}
}

// fleetOf returns n servers with the same key.
func fleetOf(t *testing.T, n int) (servers []*Watch) {
	for range n {
		w := NewWatch(Config{Entries: 1000})
		w.Share(testKey(t, 1))
		servers = append(servers, w)
	}
	return servers
}

// Signals that different servers raised are added up, and a suspect at one server
// is a suspect at the others.
func TestFleetAddsUpSignals(t *testing.T) {
	t.Parallel()
	s := fleetOf(t, 3)
	first, second, third := visitorAt(t, s[0]), visitorAt(t, s[1]), visitorAt(t, s[2])
	first.send("/robots.txt", nil)
	share(s[0], s[1])
	second.now = second.now.Add(time.Hour)
	if !second.send("/trap/x", hit(StaticHit)).Suspect {
		t.Fatal("the second server does not count the mark for robots.txt")
	}
	if first.send("/", nil).Suspect {
		t.Error("the first server counts the trap before it got the mark")
	}
	share(s[1], s[0])
	first.now = second.now
	if !first.send("/", nil).Suspect {
		t.Error("the first server does not count the mark for the trap")
	}
	// The third server gets both marks, half an hour late.
	third.now = second.now.Add(30 * time.Minute)
	s[2].SetMarks([]Mark{
		{third.id(), RobotsTxt, first.now.Add(-time.Hour)},
		{third.id(), StaticTrap, second.now},
	})
	if got := third.send("/", nil); !got.Suspect || !got.Until.Equal(second.now.Add(time.Hour)) {
		t.Errorf("the third server: %+v", got)
	}
	if len(s[2].Suspects(third.now, 10)) != 1 {
		t.Error("the third server does not list the suspect")
	}
	third.now = second.now.Add(2 * time.Hour)
	s[2].SetMarks([]Mark{{third.id(), StaticTrap, second.now}})
	if third.send("/a", nil).Suspect {
		t.Error("a mark that was applied before makes the client a suspect again")
	}
}

// id returns the Mark.Visitor of the visitor.
func (v *visitor) id() [16]byte {
	return v.watch.key.Load().visitor(&v.r, noFetchFields)
}

func TestMarksDoNotAffectOtherClients(t *testing.T) {
	t.Parallel()
	s := fleetOf(t, 2)
	v := visitorAt(t, s[0])
	id := v.id()
	marks := []Mark{{id, RobotsTxt, v.now}, {id, Pace, v.now}}
	s[0].SetMarks(marks)
	if v.send("/", nil, clicked...).Suspect {
		t.Error("a browser at the same address is a suspect")
	}
	v.r.UserAgent = mozilla
	if v.send("/", nil).Suspect {
		t.Error("another User-Agent is a suspect")
	}
	v.r.UserAgent = chrome
	if v.send("/", nil, "Cookie", "a=b").Suspect {
		t.Error("a request with a Cookie is a suspect's")
	}
	if !v.send("/image.png", nil).Suspect {
		t.Error("the client of the marks is no suspect")
	}
	s[0].SetMarks(nil)
	if !v.send("/", nil).Suspect {
		t.Error("the client is no suspect after the fleet has removed its marks")
	}
	old := visitorAt(t, s[1])
	old.now = old.now.Add(25 * time.Hour)
	s[1].SetMarks(marks)
	if old.send("/", nil).Suspect {
		t.Error("a mark that is 25 hours old counts")
	}
}

// A Watch drops marks when nobody receives them, and sends none without a key.
func TestMarksThatNobodyReceivesAreDropped(t *testing.T) {
	t.Parallel()
	w := fleetOf(t, 1)[0]
	for i := range maxWaiting + 10 {
		v := visitorAt(t, w)
		v.r.Client = addr(i)
		v.send("/robots.txt", nil)
	}
	if n := len(w.Raised()); n != maxWaiting {
		t.Errorf("%d marks wait, want %d", n, maxWaiting)
	}
	alone := NewWatch(Config{})
	visitorAt(t, alone).send("/robots.txt", nil)
	if len(alone.Raised()) != 0 {
		t.Error("a mark was sent without a key")
	}
}

func FuzzDecodeMark(f *testing.F) {
	m := Mark{[16]byte{1, 2, 3}, Pace, noon}
	f.Add(m.Encode())
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		m, ok := DecodeMark(s, noon)
		if ok && (m.Encode() != s || m.Signal >= signals) {
			t.Errorf("%q: %+v", s, m)
		}
	})
}
