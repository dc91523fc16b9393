package origins

import (
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// History has the versions that an origin's robots.txt had in the last
// GracePeriod. It is immutable.
type History struct {
	Current *judge.Rules
	from    int64 // when the current version came into force, in nanoseconds since 1970
	open    bool  // the current version may have been in force before
	Earlier []judge.Version
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
func (h *History) versionAt(at int64) (version uint64, ok bool) {
	if at >= h.from {
		return h.Current.PathRules(), true
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
func (h *History) sentAt(hash uint64, at int64) int64 {
	if len(h.Earlier) == 0 || xxhash.Sum64(h.Current.Content().Body) == hash {
		return max(at, h.from)
	}
	i := slices.IndexFunc(h.Earlier, func(v judge.Version) bool { return xxhash.Sum64(v.Rules.Content().Body) == hash })
	if i < 0 || hash == 0 {
		return at
	}
	for _, p := range slices.Backward(h.periods) {
		if p.version == h.Earlier[i].Rules.PathRules() {
			return min(at, p.until-1)
		}
	}
	return at
}

// addPeriod adds a period that ends now.
func (h *History) addPeriod(p period) {
	h.periods = append(h.periods, p)
	ended := func(q period) bool { return p.until-q.until >= int64(judge.GracePeriod) }
	h.periods = slices.DeleteFunc(h.periods[max(0, len(h.periods)-maxPeriods):], ended)
}

// Next returns h with rules that are in force from a time on. h may be nil.
// Files with the same path rules are one version, so a changed comment makes no
// new version. A version that was in force several times is one, from its first
// time to its last.
func (h *History) Next(rules *judge.Rules, at int64) *History {
	n := &History{Current: rules, from: at}
	if h == nil {
		n.open = !rules.Content().BreaksOff()
		return n
	}
	n.periods = slices.Clone(h.periods)
	if h.Current.PathRules() == rules.PathRules() {
		n.from, n.open = h.from, h.open
	} else {
		n.add(judge.Version{Rules: h.Current, From: h.from, To: at, Brief: !h.open && at-h.from < int64(briefVersion)}, at)
		n.addPeriod(period{h.Current.PathRules(), h.from, at})
	}
	for _, v := range h.Earlier {
		n.add(v, at)
	}
	return n
}

// add adds a version, unless no crawler may follow it or it is the current one.
// It joins v with an earlier version that has the same path rules.
func (h *History) add(v judge.Version, now int64) {
	if v.Ended(now) || v.Rules.PathRules() == h.Current.PathRules() || h.Current.Settings().Grace == judge.GraceOff {
		return
	}
	h.ends = max(h.ends, v.Ends().UnixNano())
	i := slices.IndexFunc(h.Earlier, func(w judge.Version) bool { return w.Rules.PathRules() == v.Rules.PathRules() })
	switch {
	case i >= 0:
		w := &h.Earlier[i]
		w.From, w.To, w.Brief = min(w.From, v.From), max(w.To, v.To), w.Brief && v.Brief
	case len(h.Earlier) < judge.MaxVersions:
		h.Earlier = append(h.Earlier, v)
	}
}

// briefVersion is how long a version must have been in force so that crawlers that are
// not known to have read the file may hold it: few have read another one.
const briefVersion = time.Minute

// MayHold returns which of the earlier versions a crawler may follow now: bit i stands
// for version i. first is when the crawler first came, and lastRead a time at which the
// version that it last read was in force; 0 if there was none. All times are in
// nanoseconds since 1970. If the crawler is known to have
// read the file, it has a copy of the version that was in force then, for GracePeriod.
// If it is not, the crawler must have come before the version was replaced, and the
// version must not have been a brief one.
func (h *History) MayHold(first, lastRead, now int64) (mask uint8) {
	read, known := h.versionAt(lastRead)
	for i := range h.Earlier {
		v, holds := &h.Earlier[i], false
		switch {
		case v.Ended(now):
		case lastRead == 0:
			holds = !v.Brief && first != 0 && first < v.To
		case known:
			holds = read == v.Rules.PathRules() && now-lastRead < int64(judge.GracePeriod)
		default:
			holds = v.From <= lastRead && lastRead < v.To
		}
		if holds {
			mask |= 1 << i
		}
	}
	return mask
}

// rules returns the rules of all versions. h may be nil.
func (h *History) rules() []*judge.Rules {
	if h == nil {
		return nil
	}
	list := []*judge.Rules{h.Current}
	for i := range h.Earlier {
		list = append(list, h.Earlier[i].Rules)
	}
	return list
}
