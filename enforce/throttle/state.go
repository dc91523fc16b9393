package throttle

import "time"

// State is the state of a budget, for a Limiter that shares it with other processes. Times
// are in microseconds since 1970.
type State struct {
	Known    bool             // the Memory has the state; otherwise it is that of an unused budget
	Last     int64            // the latest instant for which a request was accepted
	Used     float32          // how much of the most used limit was used at last, in requests
	Arrivals [MaxLimits]int64 // the theoretical arrival time of each of Limits.Rates
}

// Rate is one limit of Limits, as GCRA: see Limits. Times are in microseconds.
type Rate struct {
	Interval, Tolerance int64
	From, Length        int64 // the window of the day in which it holds, in minutes
	Unit                int64 // arrival times are multiples of it
}

// Rates returns the limits of rates, and their signature: it differs for limits that differ.
func (t *Limits) Rates() (rates []Rate, signature uint32) {
	for i := range t.limits {
		l := &t.limits[i]
		rates = append(rates, Rate{l.interval, l.tolerance, int64(l.window.from), int64(l.window.length), 1 << l.shift})
	}
	return rates, t.sig
}

// HasRates reports whether there are limits of rates.
func (t *Limits) HasRates() bool { return t != nil && len(t.limits) > 0 }

// State returns the state of the budget of a Use with Limits.
func (m *Memory) State(now time.Time, u Use) State {
	a, known := m.lookUp(now.UnixMicro(), u.Key, u.Limits)
	return State{known, a.last, a.used, a.tat}
}

// Update merges the state of the budget of a Use that other processes share into the Memory. A
// budget only becomes smaller, so of two arrival times the later one counts, unless a request
// was given back.
func (m *Memory) Update(now time.Time, u Use, s State, back bool) {
	var a arrivals
	at, tag := now.UnixMicro(), tagOf(&u.Key)
	shard, h := m.lock(tag)
	defer shard.mu.Unlock()
	place, found, rewound := shard.load(at, tag, h, u.Limits, &a)
	remote := &arrivals{last: s.Last, used: s.Used, sig: u.Limits.sig, tat: s.Arrivals}
	if !found {
		place = shard.insert(tag, h, at)
	} else if !back && !rewound {
		remote.merge(&a, u.Limits)
	}
	place.store(u.Limits, remote)
}
