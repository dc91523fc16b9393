package origins

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// versions has the rules in force of each origin, and those that were in force before.
type versions struct {
	*store
	withEarlier atomic.Int64 // how many origins have earlier versions of their file

	connecting sync.Once
	connected  atomic.Bool // place and generation are known
	place      HandlerKey
	generation int
	histories  *Histories // nil without Config.Handler
}

// set compiles a content and puts it in force for e.
//
// changed is the time from which clients received the file: the start of the
// fetch that found it, because a client that reads /robots.txt starts a fetch.
// (A client that reads the file less than a second after another fetch counts as
// having received the previous version, although it may have received this
// one.)
func (v *versions) set(e *entry, c judge.Content, changed int64) *judge.Rules {
	v.joinHistory(e)
	rules := v.settings.RulesOf(c) // takes long, so not while v.mu is held
	v.mu.Lock()
	defer v.mu.Unlock()
	v.put(e, rules, changed)
	for !e.gone && v.cfg.Ceiling.exceeded() && (v.dropVersion() || v.evict(e, true)) {
	}
	return rules
}

// put replaces e's rules. The caller holds v.mu.
func (v *versions) put(e *entry, rules *judge.Rules, changed int64) {
	if e.gone {
		e.rules.Store(rules) // for the requests that wait for it
		if next := v.table.find(e.origin); next == nil {
			v.keepNames(e)
		} else if next.rules.Load() == nil {
			v.put(next, rules, changed)
		}
		return
	}
	if v.Published(rules) {
		changed = v.cfg.Now().UnixNano() // clients receive this text from now on
	}
	v.account(rules, 1)
	v.note(e, rules, changed) // before the swap, so that the new rules deny nothing to a crawler that has a grace period
	v.account(e.rules.Swap(rules), -1)
}

// Earlier returns the history of the robots.txt of r's origin. It returns nil if
// there is no earlier version that crawlers may still follow.
func (v *versions) Earlier(r *judge.Request) *History {
	if !v.connected.Load() {
		v.Connect()
	}
	if v.withEarlier.Load() == 0 {
		return nil
	}
	e := v.table.find(v.Key(r.Origin))
	if e == nil {
		return nil
	}
	h := e.history.Load()
	if h == nil || r.Time.UnixNano() >= h.ends {
		return nil
	}
	return h
}

// Received returns the version, as Rules.PathRules, that the client of r received: that of
// rules if the handler serves Rules.Text, otherwise that of the file with the hash sent. It
// returns 0 for a file that was not in force lately.
func (v *versions) Received(r *judge.Request, rules *judge.Rules, sent uint64) uint64 {
	if v.Published(rules) {
		return rules.PathRules()
	}
	e := v.table.find(v.Key(r.Origin))
	if e == nil || sent == 0 {
		return 0
	}
	return e.history.Load().versionOf(sent)
}

// Published reports whether clients that request /robots.txt receive
// Rules.Text.
func (v *versions) Published(rules *judge.Rules) bool { return v.cfg.Published || rules.Published() }

// note adds to e's history that rules are in force from a time on. The caller
// holds v.mu.
func (v *versions) note(e *entry, rules *judge.Rules, at int64) {
	if rules.Content().IsVersion() {
		v.setHistory(e, e.history.Load().Next(rules, at))
	}
}

// forgetEnded drops versions that no crawler may follow any longer.
func (v *versions) forgetEnded(e *entry, now int64) {
	h := e.history.Load()
	if h == nil || !slices.ContainsFunc(h.Earlier, func(v judge.Version) bool { return v.Ended(now) }) {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if h := e.history.Load(); h != nil {
		v.setHistory(e, h.Next(h.Current, now))
	}
}

// setHistory replaces e's history. The caller holds v.mu.
func (v *versions) setHistory(e *entry, h *History) {
	for _, rules := range h.rules() {
		v.account(rules, 1)
	}
	old := e.history.Swap(h)
	for _, rules := range old.rules() {
		v.account(rules, -1)
	}
	if old != nil && len(old.Earlier) > 0 {
		v.withEarlier.Add(-1)
	}
	if h == nil {
		return
	}
	if len(h.Earlier) > 0 {
		v.withEarlier.Add(1)
	}
	if v.connected.Load() && !v.retired {
		v.histories.put(v.historyKeys(e), v.generation, h)
	}
}

// dropVersion drops, of the earlier versions of all origins, the one that was
// replaced first. It reports whether there was one. The caller holds v.mu.
func (v *versions) dropVersion() bool {
	if v.withEarlier.Load() == 0 {
		return false
	}
	var oldest *entry
	first := int64(0)
	for e := range v.table.all() {
		if h := e.history.Load(); h != nil && len(h.Earlier) > 0 {
			if until := h.Earlier[len(h.Earlier)-1].To; oldest == nil || until < first {
				oldest, first = e, until
			}
		}
	}
	if oldest == nil {
		return false
	}
	h := *oldest.history.Load()
	h.Earlier = slices.Clip(h.Earlier[:len(h.Earlier)-1])
	v.setHistory(oldest, &h)
	return true
}

// EndGrace drops all earlier versions of an origin's file, or of all files for
// the zero Origin. It returns the number of files that had some.
func (v *versions) EndGrace(o judge.Origin) (n int) {
	all := o.IsZero() || !v.source.PerOrigin()
	v.mu.Lock()
	defer v.mu.Unlock()
	for e := range v.table.all() {
		h := e.history.Load()
		if h != nil && len(h.Earlier) > 0 && (all || e.origin == o) {
			// Without earlier versions, no crawler has a grace period, whichever
			// version it has read.
			v.setHistory(e, &History{Current: h.Current})
			n++
		}
	}
	return n
}

// compileVersions compiles a record to a history, by p's rules. This takes
// long, so the caller must not hold v.mu.
func (v *versions) compileVersions(rec *historyRecord) *History {
	compile := func(c judge.Content) *judge.Rules {
		c.Apart = v.settings.Publishes() // the text already has the lines of the operator
		return v.settings.RulesOf(c)
	}
	h := &History{Current: compile(rec.current), from: rec.from, first: rec.first, open: rec.open}
	for _, v := range rec.earlier {
		h.add(judge.Version{Rules: compile(v.Content), From: v.from, To: v.until, Brief: v.brief}, 0)
	}
	return h
}

// Connect loads the earlier versions of v's files from Config.Histories. From
// then on, p stores its own versions there. The engine calls Connect at the
// first request of a crawler that can have a grace period. A caller can call it
// before, but not before its configuration is in force, because p's versions
// then replace those of earlier configurations. Further calls do nothing.
func (v *versions) Connect() {
	v.connecting.Do(func() {
		if v.histories == nil {
			v.connected.Store(true)
			return
		}
		v.place = v.cfg.Handler()
		v.generation = v.histories.begin()
		v.connected.Store(true)
		for e := range v.table.all() {
			v.joinHistory(e)
		}
	})
}

// joinHistory joins the history that an earlier configuration stored for e with
// the one that p has, once.
func (v *versions) joinHistory(e *entry) {
	if !v.connected.Load() || !e.historyJoined.CompareAndSwap(false, true) {
		return
	}
	var before *History
	if rec := v.histories.get(v.historyKeys(e), v.source.PerOrigin()); rec != nil {
		before = v.compileVersions(rec)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if e.gone {
		return
	}
	known := e.history.Load()
	switch {
	case before == nil && known == nil:
	case before == nil:
		v.setHistory(e, known)
	case known == nil:
		v.setHistory(e, before)
	default:
		h := before.Next(known.Current, v.cfg.Now().UnixNano())
		for _, v := range known.Earlier {
			h.add(v, 0)
		}
		slices.SortStableFunc(h.Earlier, func(a, b judge.Version) int { return cmp.Compare(b.To, a.To) })
		v.setHistory(e, h)
	}
}

// historyKeys returns the keys under which e's history is stored.
func (v *versions) historyKeys(e *entry) (keys []historyKey) {
	if v.source.PerOrigin() {
		return []historyKey{{v.place.Handler, e.origin}}
	}
	for _, host := range v.place.Hosts {
		keys = append(keys, historyKey{v.place.Handler, judge.Origin{Host: host}})
	}
	if keys == nil {
		keys = []historyKey{{v.place.Handler, judge.Origin{}}}
	}
	return keys
}
