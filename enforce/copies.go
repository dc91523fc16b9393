package enforce

import (
	"sync"
	"time"
)

// Bounds of the copies that are held.
const (
	maxCopies     = 10_000
	maxCopiesSize = 64 << 20 // octets of all bodies
)

// How long a copy stays in force while its source gives nothing newer.
const (
	// keepRefused applies while the source answers 4xx other than 404 and 410,
	// such as 401 and 403: 24 hours, for which crawlers may use a copy of their
	// own too (RFC 9309, section 2.4).
	keepRefused = 24 * time.Hour
	// keepFailed applies while the source fails: 30 days, as Google keeps the
	// last good copy.
	keepFailed = 30 * 24 * time.Hour
)

// goodCopy is the last good answer of a source: a robots.txt, or that there is
// none.
type goodCopy struct {
	content             // of state Loaded, Missing or NotRobots
	published []byte    // the file with the operator's lines; nil without any
	at        time.Time // when the source last confirmed it
}

// Copies keeps the last good answer for each origin after a Policies is closed.
// So the rules are in force at once after a reload, whether or not the source
// can be read. It is safe for concurrent use; a nil Copies holds nothing.
type Copies struct {
	mu     sync.Mutex
	size   int
	copies map[Origin]goodCopy
}

// NewCopies returns an empty Copies.
func NewCopies() *Copies { return &Copies{copies: make(map[Origin]goodCopy)} }

// put keeps c for origin. Where there are too many or they are too large, any
// others go.
func (s *Copies) put(origin Origin, c goodCopy) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size += len(c.body) - len(s.copies[origin].body)
	s.copies[origin] = c
	for other, old := range s.copies {
		if len(s.copies) <= maxCopies && s.size <= maxCopiesSize {
			return
		}
		if other != origin {
			s.size -= len(old.body)
			delete(s.copies, other)
		}
	}
}

func (s *Copies) get(origin Origin) (goodCopy, bool) {
	if s == nil {
		return goodCopy{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.copies[origin]
	return c, ok
}
