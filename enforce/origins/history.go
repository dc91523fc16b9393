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
	first   int64 // when it first did, as far as crawlers may still follow it
	open    bool  // the current version may have been in force before for long
	Earlier []judge.Version
	ends    int64 // when the last of the earlier versions ends
}

// versionOf returns the version of a file with a hash (XXH64), as Rules.PathRules; 0 if h
// has none. h may be nil.
func (h *History) versionOf(hash uint64) uint64 {
	for _, rules := range h.rules() {
		if xxhash.Sum64(rules.Content().Body) == hash {
			return rules.PathRules()
		}
	}
	return 0
}

// Next returns h with rules that are in force from a time on. h may be nil.
// Files with the same path rules are one version, so a changed comment makes no
// new version. A version that was in force several times is one, from its first
// time to its last.
func (h *History) Next(rules *judge.Rules, at int64) *History {
	n := &History{Current: rules, from: at, first: at}
	if h == nil {
		n.open = !rules.Content().BreaksOff()
		return n
	}
	if h.Current.PathRules() == rules.PathRules() {
		n.from, n.first, n.open = h.from, h.first, h.open
	} else {
		n.add(judge.Version{Rules: h.Current, From: h.first, To: at, Brief: !h.open && at-h.from < int64(briefVersion)}, at)
	}
	for _, v := range h.Earlier {
		if v.Rules.PathRules() == rules.PathRules() && !v.Ended(at) {
			n.first, n.open = v.From, !v.Brief
		}
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
// for version i. first is when the crawler first came, and lastRead when it last read the
// file; 0 if it did not. All times are in nanoseconds since 1970. If the crawler is known
// to have read the file, it has a copy of one version, for GracePeriod: of version, which is
// Rules.PathRules. If h has no such version, because the copy is of none or other settings
// give it another name, it may be of each version that was in force before and after the read.
// If the crawler is not known to have read the file, it must have come before the version was
// replaced, and the version must not have been a brief one.
func (h *History) MayHold(first, lastRead int64, version uint64, now int64) (mask uint8) {
	named := version == h.Current.PathRules()
	for i := range h.Earlier {
		named = named || version == h.Earlier[i].Rules.PathRules()
	}
	for i := range h.Earlier {
		v, holds := &h.Earlier[i], false
		switch {
		case v.Ended(now) || lastRead != 0 && now-lastRead >= int64(judge.GracePeriod):
		case lastRead == 0:
			holds = !v.Brief && first != 0 && first < v.To
		case named:
			holds = version == v.Rules.PathRules()
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
