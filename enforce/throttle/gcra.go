package throttle

import "time"

// arrivals is the state of a key's budget: the theoretical arrival time of each
// limit of some Limits. Times are in microseconds since 1970.
type arrivals struct {
	last int64   // the latest instant for which a request was accepted
	used float32 // how much of the most used limit was used at last, in requests
	sig  uint32  // of the Limits that tat belongs to
	tat  [MaxLimits]int64
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
func (t *Limits) earliest(now int64, a *arrivals) verdict {
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
func (t *Limits) blocked(at int64, a *arrivals) (until int64, why Reason, line int) {
	until = at
	var minute int32
	if t.windows || len(t.opens) > 0 {
		minute = minuteOfDay(at)
	}
	for i := range t.limits {
		l := &t.limits[i]
		free := a.tat[i] - l.tolerance
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
	if len(t.opens) > 0 && !t.visit.has(minute) {
		next := t.nextOpening(minute)
		open := minuteStart(at) + int64(minutesFrom(minute, next.minute))*microsPerMinute
		until, why, line = max(until, open), VisitTime, next.line
	}
	return until, why, line
}

// fresh returns the state of an unused budget.
func (t *Limits) fresh(now int64) arrivals {
	a := arrivals{last: now, sig: t.sig}
	for i := range t.limits {
		a.tat[i] = now
	}
	return a
}

// use records that a request is accepted for the instant at, in every limit
// with an open window. It reports whether there is such a limit.
func (t *Limits) use(at int64, a *arrivals) bool {
	var minute int32
	if t.windows {
		minute = minuteOfDay(at)
	}
	var used float32
	for i := range t.limits {
		if l := &t.limits[i]; l.window.open(minute) {
			tat := max(at, a.tat[i]) + l.interval
			a.tat[i] = tat >> l.shift << l.shift
			used = max(used, float32(tat-at)/float32(l.interval))
		}
	}
	if used == 0 {
		return false
	}
	a.last, a.used, a.sig = max(a.last, at), used, t.sig
	return true
}

// giveBack removes from a the request that was accepted for the instant at, and
// reports whether it did. It does not if a later request was accepted: without
// this one, that one would have come earlier, and a further request could come at
// the same time. Of a limit that would have accepted the request before at, the
// pause from then on is lost.
func (t *Limits) giveBack(now, at int64, a *arrivals) bool {
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
		b.tat[i] -= l.interval
		if b.tat[i]-l.tolerance > at {
			return false
		}
		if least == 0 || l.interval < least {
			least = l.interval
		}
	}
	if least == 0 {
		return true // it has used nothing
	}
	if a.last > at || a.sig != t.sig || a.last < at-least/2 { // it has accepted a later request, or not this one, or was reset
		return false
	}
	b.last, b.used = min(a.last, now), 0
	for i := range t.limits {
		if l := &t.limits[i]; l.window.open(minute) {
			b.used = max(b.used, float32(b.tat[i]-b.last)/float32(l.interval))
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
func (t *Limits) convert(a *arrivals) {
	minute, used := minuteOfDay(a.last), float64(a.used)
	for i := range t.limits {
		l := &t.limits[i]
		a.tat[i] = a.last
		if l.window.open(minute) {
			ahead := min(used*float64(l.interval), float64(l.interval+l.tolerance))
			a.tat[i] = (a.last + int64(ahead)) >> l.shift << l.shift
		}
	}
	a.sig = t.sig
}

// merge sets a to the later times of a and b. Both belong to t.
func (a *arrivals) merge(b *arrivals, t *Limits) {
	if b.last > a.last {
		a.last, a.used = b.last, b.used
	}
	for i := range a.tat[:len(t.limits)] {
		a.tat[i] = max(a.tat[i], b.tat[i])
	}
}

// rewind moves the times of a back if they come from a clock that was set back
// since. It reports whether it did. Otherwise a crawler would be refused for as
// long as the clock went back.
func (t *Limits) rewind(now int64, a *arrivals) bool {
	ahead := a.last - now
	if ahead <= int64(MaxLead/time.Microsecond) {
		return false
	}
	a.last = now
	for i := range a.tat[:len(t.limits)] {
		a.tat[i] -= ahead
	}
	return true
}

// decide decides on a request under t with the budget a, which belongs to t. used
// reports whether the request uses budget.
func (t *Limits) decide(now int64, a *arrivals) (r Result, used bool) {
	r = t.earliest(now, a).result(now)
	return r, r.OK && t.use(now, a)
}

// First returns the result for the first request of a key, at now. Only
// Visit-time can refuse it.
func (t *Limits) First(now time.Time) Result {
	at := now.UnixMicro()
	a := t.fresh(at)
	r, _ := t.decide(at, &a)
	return r
}
