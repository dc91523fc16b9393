package throttle

import "time"

// Window returns the minute of the UTC day at which the time begins in which the limit holds,
// and its length in minutes.
func (l *Rate) Window() (from, length int64) { return int64(l.window.from), int64(l.window.length) }

// Unit returns the unit of arrival times: they are multiples of it.
func (l *Rate) Unit() int64 { return 1 << l.shift }

// Rates returns the limits of rates, and their signature: it differs for limits that differ.
func (t *Limits) Rates() (rates []Rate, signature uint32) { return t.limits, t.sig }

// HasRates reports whether there are limits of rates.
func (t *Limits) HasRates() bool { return t != nil && len(t.limits) > 0 }

// State returns the state of the budget of a Use with Limits. Last is 0 if there is none, or if it
// comes from a clock that was set back since.
func (m *Memory) State(now time.Time, u Use) (a State) {
	at, tag := now.UnixMicro(), tagOf(&u.Key)
	s, h := m.lock(tag)
	defer s.mu.Unlock()
	_, found, rewound := s.load(at, tag, h, u.Limits, &a)
	if !found || rewound {
		a = u.Limits.fresh(at)
		a.Last = 0
	}
	return a
}

// Update merges the state of the budget of a Use that other processes share into the Memory. A
// budget only becomes smaller, so of two arrival times the later one counts, unless a request
// was given back.
func (m *Memory) Update(now time.Time, u Use, s State, back bool) {
	var a State
	at, tag := now.UnixMicro(), tagOf(&u.Key)
	shard, h := m.lock(tag)
	defer shard.mu.Unlock()
	place, found, rewound := shard.load(at, tag, h, u.Limits, &a)
	if !found {
		place = shard.insert(tag, h, at)
	} else if !back && !rewound {
		s.merge(&a, u.Limits)
	}
	place.store(u.Limits, &s)
}
