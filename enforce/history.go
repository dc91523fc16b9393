package enforce

import (
	"cmp"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"
)

// history has the versions that an origin's robots.txt had in the last
// GracePeriod. It is immutable.
type history struct {
	current *Rules
	from    int64 // when the current version came into force, in nanoseconds since 1970
	open    bool  // the current version may have been in force before
	earlier []Version
	ends    int64    // when the last of the earlier versions ends
	periods []period // before from, oldest first
}

// period is a time in which a version was in force, in nanoseconds since 1970. A
// version has several if the file changed back and forth.
type period struct {
	version     uint64 // Rules.pathRules
	from, until int64
}

// maxPeriods is how many periods are kept. If there are more, the first ones are
// dropped.
const maxPeriods = 64

// versionAt returns which version was in force at a time, as Rules.pathRules. ok
// is false if that is not known.
func (h *history) versionAt(at int64) (version uint64, ok bool) {
	if at >= h.from {
		return h.current.pathRules, true
	}
	i := slices.IndexFunc(h.periods, func(p period) bool { return p.from <= at && at < p.until })
	if i < 0 {
		return 0, false
	}
	return h.periods[i].version, true
}

// sentAt returns a time at which the version was in force whose file has a hash:
// the last one before at, or that at which the current version began. It returns
// at if no version has it.
func (h *history) sentAt(hash uint64, at int64) int64 {
	if len(h.earlier) == 0 || xxhash.Sum64(h.current.content.Body) == hash {
		return max(at, h.from)
	}
	i := slices.IndexFunc(h.earlier, func(v Version) bool { return xxhash.Sum64(v.Rules.content.Body) == hash })
	if i < 0 || hash == 0 {
		return at
	}
	for _, p := range slices.Backward(h.periods) {
		if p.version == h.earlier[i].Rules.pathRules {
			return min(at, p.until-1)
		}
	}
	return at
}

// addPeriod adds a period that ends now.
func (h *history) addPeriod(p period) {
	h.periods = append(h.periods, p)
	ended := func(q period) bool { return p.until-q.until >= int64(GracePeriod) }
	h.periods = slices.DeleteFunc(h.periods[max(0, len(h.periods)-maxPeriods):], ended)
}

// next returns h with rules that are in force from a time on. h may be nil.
// Files with the same path rules are one version, so a changed comment makes no
// new version. A version that was in force several times is one, from its first
// time to its last.
func (h *history) next(rules *Rules, at int64) *history {
	n := &history{current: rules, from: at}
	if h == nil {
		n.open = !rules.content.BreaksOff()
		return n
	}
	n.periods = slices.Clone(h.periods)
	if h.current.pathRules == rules.pathRules {
		n.from, n.open = h.from, h.open
	} else {
		n.add(Version{h.current, h.from, at, !h.open && at-h.from < int64(briefVersion)}, at)
		n.addPeriod(period{h.current.pathRules, h.from, at})
	}
	for _, v := range h.earlier {
		n.add(v, at)
	}
	return n
}

// add adds a version, unless no crawler may follow it or it is the current one.
// It joins v with an earlier version that has the same path rules.
func (h *history) add(v Version, now int64) {
	if v.Ended(now) || v.Rules.pathRules == h.current.pathRules || h.current.settings.Grace == GraceOff {
		return
	}
	h.ends = max(h.ends, v.Ends().UnixNano())
	i := slices.IndexFunc(h.earlier, func(w Version) bool { return w.Rules.pathRules == v.Rules.pathRules })
	switch {
	case i >= 0:
		w := &h.earlier[i]
		w.From, w.To, w.Brief = min(w.From, v.From), max(w.To, v.To), w.Brief && v.Brief
	case len(h.earlier) < MaxVersions:
		h.earlier = append(h.earlier, v)
	}
}

// briefVersion is how long a version must have been in force so that crawlers that are
// not known to have read the file may hold it: few have read another one.
const briefVersion = time.Minute

// mayHold returns which of the earlier versions a crawler may follow at a time, in
// nanoseconds since 1970: bit i stands for version i. If the crawler is known to have
// read the file, it has a copy of the version that was in force then, for GracePeriod.
// If it is not, the crawler must have come before the version was replaced, and the
// version must not have been a brief one.
func (h *history) mayHold(visit visitTimes, now int64) (mask uint8) {
	read, known := h.versionAt(visit.read)
	for i := range h.earlier {
		v, holds := &h.earlier[i], false
		switch {
		case v.Ended(now):
		case visit.read == 0:
			holds = !v.Brief && visit.first != 0 && visit.first < v.To
		case known:
			holds = read == v.Rules.pathRules && now-visit.read < int64(GracePeriod)
		default:
			holds = v.From <= visit.read && visit.read < v.To
		}
		if holds {
			mask |= 1 << i
		}
	}
	return mask
}

// rules returns the rules of all versions. h may be nil.
func (h *history) rules() []*Rules {
	if h == nil {
		return nil
	}
	list := []*Rules{h.current}
	for i := range h.earlier {
		list = append(list, h.earlier[i].Rules)
	}
	return list
}

// Earlier returns the history of the robots.txt of r's origin. It returns nil if
// there is no earlier version that crawlers may still follow.
func (p *Origins) Earlier(r *Request) *history {
	if !p.connected.Load() {
		p.Connect()
	}
	if p.withEarlier.Load() == 0 {
		return nil
	}
	e := p.table.find(p.Key(r.Origin))
	if e == nil {
		return nil
	}
	h := e.history.Load()
	if h == nil || r.Time.UnixNano() >= h.ends {
		return nil
	}
	return h
}

// readAt returns a time, in nanoseconds since 1970, at which the version that
// the client of r received was in force. If the handler serves Rules.Text, the
// client received the text of rules; otherwise a file with the hash sent.
func (p *Origins) readAt(r *Request, rules *Rules, sent uint64) int64 {
	at := r.Time.UnixNano()
	e := p.table.find(p.Key(r.Origin))
	if e == nil {
		return at
	}
	h := e.history.Load()
	switch {
	case h == nil:
	case !p.published(rules):
		return h.sentAt(sent, at)
	case rules.pathRules == h.current.pathRules:
		at = max(at, h.from)
	default:
		at = min(at, h.from-1)
	}
	return at
}

// published reports whether clients that request /robots.txt receive
// Rules.Text.
func (p *Origins) published(rules *Rules) bool { return p.cfg.Published || rules.Published() }

// note adds to e's history that rules are in force from a time on. The caller
// holds p.mu.
func (p *Origins) note(e *entry, rules *Rules, at int64) {
	if rules.isVersion() {
		p.setHistory(e, e.history.Load().next(rules, at))
	}
}

// forgetEnded drops versions that no crawler may follow any longer.
func (p *Origins) forgetEnded(e *entry, now int64) {
	h := e.history.Load()
	if h == nil || !slices.ContainsFunc(h.earlier, func(v Version) bool { return v.Ended(now) }) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if h := e.history.Load(); h != nil {
		p.setHistory(e, h.next(h.current, now))
	}
}

// setHistory replaces e's history. The caller holds p.mu.
func (p *Origins) setHistory(e *entry, h *history) {
	for _, rules := range h.rules() {
		p.acquire(rules)
	}
	old := e.history.Swap(h)
	for _, rules := range old.rules() {
		p.release(rules)
	}
	if old != nil && len(old.earlier) > 0 {
		p.withEarlier.Add(-1)
	}
	if h == nil {
		return
	}
	if len(h.earlier) > 0 {
		p.withEarlier.Add(1)
	}
	if p.connected.Load() && !p.retired {
		p.histories.put(p.historyKeys(e), p.generation, h)
	}
}

// dropVersion drops, of the earlier versions of all origins, the one that was
// replaced first. It reports whether there was one. The caller holds p.mu.
func (p *Origins) dropVersion() bool {
	if p.withEarlier.Load() == 0 {
		return false
	}
	var oldest *entry
	first := int64(0)
	for e := range p.table.all() {
		if h := e.history.Load(); h != nil && len(h.earlier) > 0 {
			if until := h.earlier[len(h.earlier)-1].To; oldest == nil || until < first {
				oldest, first = e, until
			}
		}
	}
	if oldest == nil {
		return false
	}
	h := *oldest.history.Load()
	h.earlier = slices.Clip(h.earlier[:len(h.earlier)-1])
	p.setHistory(oldest, &h)
	return true
}

// EndGrace drops all earlier versions of an origin's file, or of all files for
// the zero Origin. It returns the number of files that had some.
func (p *Origins) EndGrace(o Origin) (n int) {
	all := o.isZero() || !p.source.PerOrigin()
	p.mu.Lock()
	defer p.mu.Unlock()
	for e := range p.table.all() {
		h := e.history.Load()
		if h != nil && len(h.earlier) > 0 && (all || e.origin == o) {
			// Without earlier versions, no crawler has a grace period, whichever
			// version it has read.
			p.setHistory(e, &history{current: h.current})
			n++
		}
	}
	return n
}

// compileVersions compiles a record to a history, by p's rules. This takes
// long, so the caller must not hold p.mu.
func (p *Origins) compileVersions(rec *historyRecord) *history {
	compile := func(c Content) *Rules {
		c.Apart = p.pending.settings.publishes() // the text already has the lines of the operator
		return p.compile(c)
	}
	h := &history{current: compile(rec.current.Content), from: rec.from, open: rec.open, periods: slices.Clone(rec.periods)}
	rename := map[uint64]uint64{rec.current.version: h.current.pathRules}
	for _, v := range rec.earlier {
		rules := compile(v.Content)
		rename[v.version] = rules.pathRules
		h.add(Version{rules, v.from, v.until, v.brief}, 0)
	}
	for i := range h.periods { // the version's name depends on the settings
		h.periods[i].version = rename[h.periods[i].version]
	}
	return h
}

// Connect loads the earlier versions of p's files from Config.Memory. From
// then on, p stores its own versions there. The engine calls Connect at the
// first request of a crawler that can have a grace period. A caller can call it
// before, but not before its configuration is in force, because p's versions
// then replace those of earlier configurations. Further calls do nothing.
func (p *Origins) Connect() {
	p.connecting.Do(func() {
		if p.histories == nil {
			p.connected.Store(true)
			return
		}
		p.place = p.cfg.Handler()
		p.generation = p.histories.begin()
		p.connected.Store(true)
		for e := range p.table.all() {
			p.joinHistory(e)
		}
	})
}

// joinHistory joins the history that an earlier configuration stored for e with
// the one that p has, once.
func (p *Origins) joinHistory(e *entry) {
	if !p.connected.Load() || !e.historyJoined.CompareAndSwap(false, true) {
		return
	}
	var before *history
	if rec := p.histories.get(p.historyKeys(e), p.source.PerOrigin()); rec != nil {
		before = p.compileVersions(rec)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.gone {
		return
	}
	known := e.history.Load()
	switch {
	case before == nil && known == nil:
	case before == nil:
		p.setHistory(e, known)
	case known == nil:
		p.setHistory(e, before)
	default:
		h := before.next(known.current, p.cfg.Now().UnixNano())
		for _, v := range known.earlier {
			h.add(v, 0)
		}
		h.periods = append(h.periods, known.periods...)
		slices.SortStableFunc(h.earlier, func(a, b Version) int { return cmp.Compare(b.To, a.To) })
		p.setHistory(e, h)
	}
}
