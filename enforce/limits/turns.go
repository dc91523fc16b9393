package limits

import (
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// Turns counts requests in flight. It has an entry for each line and crawler with such a
// request, so it is as bounded as these are. Several Sets can share one, and it outlives them,
// so that a reload loses none. The zero value counts none. It is safe for concurrent use.
type Turns [64]struct {
	mu     sync.Mutex
	counts map[turn]int
	_      [48]byte // so that no two share a cache line
}

// turn is a request in flight, as one that a line counts.
type turn struct {
	key throttle.Key
	who uint64 // the crawler, if several share the line; 0 otherwise, and for all of them
}

// take takes a turn of a line that has most, of which the crawler may have own.
func (t *Turns) take(by turn, most, own int) bool {
	s, all := &t[by.key[0]%uint64(len(t))], turn{key: by.key}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts[all] >= most || s.counts[by] >= own {
		return false
	}
	if s.counts == nil {
		s.counts = make(map[turn]int)
	}
	s.counts[all]++
	if by != all {
		s.counts[by]++
	}
	return true
}

// leave ends what take began.
func (t *Turns) leave(by turn) {
	s, all := &t[by.key[0]%uint64(len(t))], turn{key: by.key}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[all]--
	if by != all {
		s.counts[by]--
	}
	for _, t := range []turn{all, by} {
		if s.counts[t] == 0 {
			delete(s.counts, t)
		}
	}
}

// visitors notes which crawlers come to a line that several share.
type visitors struct {
	mu          sync.Mutex
	last, other visit // the last one, and the last one of another crawler than that
}

type visit struct {
	who uint64
	at  int64
}

// otherCame is how long ago another crawler must have come, so that no crawler gets
// more than half of the turns.
const otherCame = 10 * time.Second

// note notes that a crawler comes, and reports whether another one came in the otherCame
// before. Requests that come together may come here in another order than that of their times; a
// time long after now is from before the clock was set back, and says nothing.
func (v *visitors) note(who uint64, now int64) (others bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.last.who != who {
		v.other = v.last
	}
	v.last = visit{who, now}
	return time.Duration(now-v.other.at).Abs() <= otherCame
}

// unknown stands for all crawlers with names that a client can send any number of.
const unknown = 1

// sharer identifies a crawler among those that share turns: by its name, if it is
// verified, or can't be and is in the registry or in robots.txt.
func sharer(s *judge.Subject) uint64 {
	isKnown := s.Claim.State == claim.NoMethod && (s.Agent.Crawler != nil || s.Agent.Class == crawler.Named)
	if s.Claim.State != claim.Verified && !isKnown {
		return unknown
	}
	who, _ := judge.Origin{}.Hash(0, s.Agent.Name())
	return who
}
