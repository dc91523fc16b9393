package throttle

import "time"

// arrivals is what a key has used of its budget: the theoretical arrival time
// of each limit of some Terms, in microseconds since 1970.
type arrivals struct {
	last int64 // the latest instant for which a request was accepted
	used float32
	sig  uint32 // of the Terms that tat belongs to
	tat  [MaxLimits]int64
}

// verdict is the outcome of a request at the algorithm's level.
type verdict struct {
	at     int64 // the earliest instant at which every line accepts
	reason Reason
	line   int
}

// wait returns how long after now v's instant is.
func (v verdict) wait(now int64) time.Duration {
	return time.Duration(v.at-now) * time.Microsecond
}

// refusal returns the answer to a request that is not held until v's instant.
func (v verdict) refusal(now int64) Result {
	return Result{Reason: v.reason, Line: v.line, RetryAfter: v.wait(now)}
}

// acceptance returns the answer to a request that goes on at v's instant.
func (v verdict) acceptance(now int64) Result {
	if v.at <= now {
		return Result{OK: true}
	}
	return Result{OK: true, Reason: v.reason, Line: v.line, Delay: v.wait(now)}
}

// earliest returns the first instant not before now at which every line of t
// accepts a request, if a uses no more budget before. The verdict names the
// line that is in the way now.
//
// Each line has a first instant of its own, which is a bound for all of them
// together; from the latest one the search goes on until all agree. It ends
// because every round passes the edge of a window or the end of an interval,
// and no interval ends later than one emission interval from now.
func (t *Terms) earliest(now int64, a *arrivals) verdict {
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

// blocked returns at if every line accepts a request at that instant, and
// otherwise the latest of the lines' own first instants and the line that
// refuses.
func (t *Terms) blocked(at int64, a *arrivals) (until int64, why Reason, line int) {
	until = at
	var minute int32
	if t.windows || t.visits {
		minute = minuteOfDay(at)
	}
	for i := range t.limits[:t.n] {
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
	if t.visits && !t.visit.has(minute) {
		wait := t.visit.until(minute)
		open := minuteStart(at) + int64(wait)*microsPerMinute
		until, why, line = max(until, open), VisitTime, t.opener((minute+wait)%minutesPerDay)
	}
	return until, why, line
}

// fresh returns the budget of a key that has not been seen before.
func (t *Terms) fresh(now int64) arrivals {
	a := arrivals{last: now, sig: t.sig}
	for i := range t.limits[:t.n] {
		a.tat[i] = now
	}
	return a
}

// use records a request accepted for the instant at in every limit whose
// window is open then. It reports whether there was one.
func (t *Terms) use(at int64, a *arrivals) bool {
	var minute int32
	if t.windows {
		minute = minuteOfDay(at)
	}
	var used float32
	for i := range t.limits[:t.n] {
		l := &t.limits[i]
		if l.window.open(minute) {
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

// adopt makes a, which was written under other terms, an account under t.
//
// What the old terms had counted as used, in requests, is counted as used
// under the new ones, so that a change of the file forgets no budget; and no
// arrival time lies further ahead than t itself would have put it, so that
// nobody is shut out for longer than the new file says. A limit whose window
// was shut at the last request starts afresh.
func (t *Terms) adopt(a *arrivals) {
	minute := minuteOfDay(a.last)
	for i := range t.limits[:t.n] {
		l := &t.limits[i]
		a.tat[i] = a.last
		if l.window.open(minute) {
			ahead := min(float64(a.used)*float64(l.interval), float64(l.interval+l.tolerance))
			a.tat[i] = (a.last + int64(ahead)) >> l.shift << l.shift
		}
	}
	a.sig = t.sig
}

// merge adds what b knows to a, both under t.
func (a *arrivals) merge(b *arrivals, t *Terms) {
	if b.last > a.last {
		a.last, a.used = b.last, b.used
	}
	for i := range a.tat[:t.n] {
		a.tat[i] = max(a.tat[i], b.tat[i])
	}
}

// rewind moves a back to now if it comes from a clock that has been set back
// since, and reports whether it did. Without that a crawler would be shut out
// for as long as the clock went back.
func (t *Terms) rewind(now int64, a *arrivals) bool {
	ahead := a.last - now
	if ahead <= int64(MaxWait/time.Microsecond) {
		return false
	}
	a.last = now
	for i := range a.tat[:t.n] {
		a.tat[i] -= ahead
	}
	return true
}

// decide answers a request under t with the budget a, which it uses if it
// accepts. dirty reports whether a has changed.
func (t *Terms) decide(now int64, a *arrivals, maxWait time.Duration) (_ Result, dirty bool) {
	if a.sig != t.sig {
		t.adopt(a)
	}
	dirty = t.rewind(now, a)
	v := t.earliest(now, a)
	if v.wait(now) > max(0, min(maxWait, MaxWait)) {
		return v.refusal(now), dirty
	}
	return v.acceptance(now), t.use(v.at, a) || dirty
}

// First returns the answer to the first request of a key at now: only Visit-time
// can refuse it.
func (t *Terms) First(now time.Time) Result {
	at := now.UnixMicro()
	a := t.fresh(at)
	r, _ := t.decide(at, &a, 0)
	return r
}
