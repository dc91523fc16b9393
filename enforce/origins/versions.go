package origins

import (
	"cmp"
	"slices"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// set compiles a content and puts it in force for e.
//
// changed is the time from which clients received the file: the start of the
// fetch that found it, because a client that reads /robots.txt starts a fetch.
// (A client that reads the file less than a second after another fetch counts as
// having received the previous version, although it may have received this
// one.)
func (p *Table) set(e *entry, c judge.Content, changed int64) *judge.Rules {
	p.joinHistory(e)
	rules := p.settings.RulesOf(c) // takes long, so not while p.mu is held
	p.mu.Lock()
	defer p.mu.Unlock()
	p.put(e, rules, changed)
	for !e.gone && p.cfg.Ceiling.exceeded() && (p.dropVersion() || p.evict(e, true)) {
	}
	return rules
}

// put replaces e's rules. The caller holds p.mu.
func (p *Table) put(e *entry, rules *judge.Rules, changed int64) {
	if e.gone {
		e.rules.Store(rules) // for the requests that wait for it
		if next := p.table.find(e.origin); next == nil {
			p.keepNames(e)
		} else if next.rules.Load() == nil {
			p.put(next, rules, changed)
		}
		return
	}
	if p.Published(rules) {
		changed = p.cfg.Now().UnixNano() // clients receive this text from now on
	}
	p.account(rules, 1)
	p.note(e, rules, changed) // before the swap, so that the new rules deny nothing to a crawler that has a grace period
	p.account(e.rules.Swap(rules), -1)
}

// Earlier returns the history of the robots.txt of r's origin. It returns nil if
// there is no earlier version that crawlers may still follow.
func (p *Table) Earlier(r *judge.Request) *History {
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

// Received returns the version, as Rules.PathRules, that the client of r received: that of
// rules if the handler serves Rules.Text, otherwise that of the file with the hash sent. It
// returns 0 for a file that was not in force lately.
func (p *Table) Received(r *judge.Request, rules *judge.Rules, sent uint64) uint64 {
	if p.Published(rules) {
		return rules.PathRules()
	}
	e := p.table.find(p.Key(r.Origin))
	if e == nil || sent == 0 {
		return 0
	}
	return e.history.Load().versionOf(sent)
}

// Published reports whether clients that request /robots.txt receive
// Rules.Text.
func (p *Table) Published(rules *judge.Rules) bool { return p.cfg.Published || rules.Published() }

// note adds to e's history that rules are in force from a time on. The caller
// holds p.mu.
func (p *Table) note(e *entry, rules *judge.Rules, at int64) {
	if rules.Content().IsVersion() {
		p.setHistory(e, e.history.Load().Next(rules, at))
	}
}

// forgetEnded drops versions that no crawler may follow any longer.
func (p *Table) forgetEnded(e *entry, now int64) {
	h := e.history.Load()
	if h == nil || !slices.ContainsFunc(h.Earlier, func(old judge.Version) bool { return old.Ended(now) }) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if h := e.history.Load(); h != nil {
		p.setHistory(e, h.Next(h.Current, now))
	}
}

// setHistory replaces e's history. The caller holds p.mu.
func (p *Table) setHistory(e *entry, h *History) {
	for _, rules := range h.rules() {
		p.account(rules, 1)
	}
	old := e.history.Swap(h)
	for _, rules := range old.rules() {
		p.account(rules, -1)
	}
	if old != nil && len(old.Earlier) > 0 {
		p.withEarlier.Add(-1)
	}
	if h == nil {
		return
	}
	if len(h.Earlier) > 0 {
		p.withEarlier.Add(1)
	}
	if p.connected.Load() && !p.retired {
		p.cfg.Histories.put(p.historyKeys(e), p.generation, h)
	}
}

// dropVersion drops, of the earlier versions of all origins, the one that was
// replaced first. It reports whether there was one. The caller holds p.mu.
func (p *Table) dropVersion() bool {
	if p.withEarlier.Load() == 0 {
		return false
	}
	var oldest *entry
	first := int64(0)
	for e := range p.table.all() {
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
	p.setHistory(oldest, &h)
	return true
}

// EndGrace drops all earlier versions of an origin's file, or of all files for
// the zero Origin. It returns the number of files that had some.
func (p *Table) EndGrace(o judge.Origin) (n int) {
	all := o.IsZero() || !p.source.PerOrigin()
	p.mu.Lock()
	defer p.mu.Unlock()
	for e := range p.table.all() {
		h := e.history.Load()
		if h != nil && len(h.Earlier) > 0 && (all || e.origin == o) {
			// Without earlier versions, no crawler has a grace period, whichever
			// version it has read.
			p.setHistory(e, &History{Current: h.Current})
			n++
		}
	}
	return n
}

// compileVersions compiles a record to a history, by p's rules. This takes
// long, so the caller must not hold p.mu.
func (p *Table) compileVersions(rec *historyRecord) *History {
	compile := func(c judge.Content) *judge.Rules {
		c.Apart = p.settings.Publishes() // the text already has the lines of the operator
		return p.settings.RulesOf(c)
	}
	h := &History{Current: compile(rec.current), from: rec.from, first: rec.first, open: rec.open}
	for _, old := range rec.earlier {
		h.add(judge.Version{Rules: compile(old.Content), From: old.from, To: old.until, Brief: old.brief}, 0)
	}
	return h
}

// Connect loads the earlier versions of p's files from Config.Histories. From
// then on, p stores its own versions there. The engine calls Connect at the
// first request of a crawler that can have a grace period. A caller can call it
// before, but not before its configuration is in force, because p's versions
// then replace those of earlier configurations. Further calls do nothing.
func (p *Table) Connect() {
	p.connecting.Do(func() {
		if p.cfg.Histories == nil {
			p.connected.Store(true)
			return
		}
		p.place = p.cfg.Handler()
		p.generation = p.cfg.Histories.begin()
		p.connected.Store(true)
		for e := range p.table.all() {
			p.joinHistory(e)
		}
	})
}

// joinHistory joins the history that an earlier configuration stored for e with
// the one that p has, once.
func (p *Table) joinHistory(e *entry) {
	if !p.connected.Load() || !e.historyJoined.CompareAndSwap(false, true) {
		return
	}
	var before *History
	if rec := p.cfg.Histories.get(p.historyKeys(e), p.source.PerOrigin()); rec != nil {
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
		h := before.Next(known.Current, p.cfg.Now().UnixNano())
		for _, old := range known.Earlier {
			h.add(old, 0)
		}
		slices.SortStableFunc(h.Earlier, func(a, b judge.Version) int { return cmp.Compare(b.To, a.To) })
		p.setHistory(e, h)
	}
}

// historyKeys returns the keys under which e's history is stored.
func (p *Table) historyKeys(e *entry) (keys []historyKey) {
	if p.source.PerOrigin() {
		return []historyKey{{p.place.Handler, e.origin}}
	}
	for _, host := range p.place.Hosts {
		keys = append(keys, historyKey{p.place.Handler, judge.Origin{Host: host}})
	}
	if keys == nil {
		keys = []historyKey{{p.place.Handler, judge.Origin{}}}
	}
	return keys
}
