package throttle

import "time"

// State is the state of a budget under some Limits. Times are in microseconds since 1970.
type State struct {
	Last     int64            // the latest instant for which a request was accepted
	Used     float32          // how much of the most used limit was used at last, in requests
	Arrivals [MaxLimits]int64 // the theoretical arrival time of each of Limits.Rates
	sig      uint32           // of the Limits
}

// verdict says when a request can be accepted, and why not before.
type verdict struct {
	at     int64 // the earliest instant at which every line accepts
	reason Reason
	line   int
}

// result returns the result for a request at now.
func (v verdict) result(now int64) Result {
	if v.at <= now {
		return Result{OK: true}
	}
	return Result{Reason: v.reason, Line: v.line, RetryAfter: time.Duration(v.at-now) * time.Microsecond}
}

// earliest returns the first instant, now or later, at which every line of t
// accepts a request, if no other request comes before. The verdict names the
// line that refuses a request now.
//
// Each line has its own first instant. No request can be accepted before the
// latest of them, so the search goes on from there, until all lines accept. It
// ends because each round passes the end of a window or of an interval, and no
// interval ends later than one emission interval from now.
func (t *Limits) earliest(now int64, a *State) verdict {
	v := verdict{at: now}
	for {
		at, why, line := t.blocked(v.at, a)
		if at == v.at {
			return v
		}
		if v.reason == None {
			v.reason, v.line = why, line
		}
		v.at = at
	}
}

// blocked returns at if every line accepts a request at that instant. Otherwise
// it returns the latest of the lines' own first instants, and that line.
func (t *Limits) blocked(at int64, a *State) (until int64, why Reason, line int) {
	until = at
	var minute int32
	if t.windows || len(t.visits) > 0 {
		minute = minuteOfDay(at)
	}
	for i := range t.limits {
		l := &t.limits[i]
		free := a.Arrivals[i] - l.Tolerance
		if free <= until {
			continue
		}
		if !l.window.always() {
			if !l.window.open(minute) {
				continue
			}
			if free = min(free, l.window.closes(at)); free <= until {
				continue
			}
		}
		until, why, line = free, l.reason, l.line
	}
	if len(t.visits) > 0 && !t.inVisit(minute) {
		next := t.nextVisit(minute)
		open := minuteStart(at) + int64(minutesFrom(minute, next.from))*microsPerMinute
		until, why, line = max(until, open), VisitTime, next.line
	}
	return until, why, line
}

// fresh returns the state of an unused budget.
func (t *Limits) fresh(now int64) State {
	a := State{Last: now, sig: t.sig}
	for i := range t.limits {
		a.Arrivals[i] = now
	}
	return a
}

// use records that a request is accepted for the instant at, in every limit
// with an open window. It reports whether there is such a limit.
func (t *Limits) use(at int64, a *State) bool {
	var minute int32
	if t.windows {
		minute = minuteOfDay(at)
	}
	var used float32
	for i := range t.limits {
		if l := &t.limits[i]; l.window.open(minute) {
			tat := max(at, a.Arrivals[i]) + l.Interval
			a.Arrivals[i] = tat >> l.shift << l.shift
			used = max(used, float32(tat-at)/float32(l.Interval))
		}
	}
	if used == 0 {
		return false
	}
	a.Last, a.Used, a.sig = max(a.Last, at), used, t.sig
	return true
}

// giveBack removes from a the request that was accepted for the instant at, and
// reports whether it did. It does not if a later request was accepted: without
// this one, that one would have come earlier, and a further request could come at
// the same time. Of a limit that would have accepted the request before at, the
// pause from then on is lost.
func (t *Limits) giveBack(now, at int64, a *State) bool {
	var minute int32
	if t.windows {
		minute = minuteOfDay(at)
	}
	b, least := *a, int64(0)
	for i := range t.limits {
		l := &t.limits[i]
		if !l.window.open(minute) {
			continue
		}
		b.Arrivals[i] -= l.Interval
		if b.Arrivals[i]-l.Tolerance > at {
			return false
		}
		if least == 0 || l.Interval < least {
			least = l.Interval
		}
	}
	if least == 0 {
		return true // it has used nothing
	}
	if a.Last > at || a.sig != t.sig || a.Last < at-least/2 { // it has accepted a later request, or not this one, or was reset
		return false
	}
	b.Last, b.Used = min(a.Last, now), 0
	for i := range t.limits {
		if l := &t.limits[i]; l.window.open(minute) {
			b.Used = max(b.Used, float32(b.Arrivals[i]-b.Last)/float32(l.Interval))
		}
	}
	*a = b
	return true
}

// convert converts a, which belongs to other limits, to t.
//
// The number of requests that are used under the old limits is also used under
// the new ones, so that a changed file resets no budget. No arrival time lies
// further ahead than t allows, so that no crawler waits longer than the new
// file says. A limit with a window that was closed at the last request is
// unused.
func (t *Limits) convert(a *State) {
	minute, used := minuteOfDay(a.Last), float64(a.Used)
	for i := range t.limits {
		l := &t.limits[i]
		a.Arrivals[i] = a.Last
		if l.window.open(minute) {
			ahead := min(used*float64(l.Interval), float64(l.Interval+l.Tolerance))
			a.Arrivals[i] = (a.Last + int64(ahead)) >> l.shift << l.shift
		}
	}
	a.sig = t.sig
}

// merge sets a to the later times of a and b. Both belong to t.
func (a *State) merge(b *State, t *Limits) {
	if b.Last > a.Last {
		a.Last, a.Used = b.Last, b.Used
	}
	for i := range a.Arrivals[:len(t.limits)] {
		a.Arrivals[i] = max(a.Arrivals[i], b.Arrivals[i])
	}
}

// rewind moves the times of a back if they come from a clock that was set back
// since. It reports whether it did. Otherwise a crawler would be refused for as
// long as the clock went back.
func (t *Limits) rewind(now int64, a *State) bool {
	ahead := a.Last - now
	if ahead <= int64(MaxLead/time.Microsecond) {
		return false
	}
	a.Last = now
	for i := range a.Arrivals[:len(t.limits)] {
		a.Arrivals[i] -= ahead
	}
	return true
}

// First returns the result for the first request of a key, at now. Only
// Visit-time can refuse it.
func (t *Limits) First(now time.Time) Result { return t.first(now.UnixMicro()) }

func (t *Limits) first(now int64) Result {
	a := t.fresh(now)
	return t.earliest(now, &a).result(now)
}
