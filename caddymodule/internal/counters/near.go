package counters

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/nearmiss"
	"github.com/caddy-robots/caddy-robots/robots"
)

const (
	maxPassed    = 128     // requests that are kept until the next look at them
	maxPassText  = 320     // octets of the host and target of such a request
	maxNearFiles = 100     // robots.txt files, by origin and version, whose lines requests just missed
	maxNearText  = 1 << 20 // octets of robots.txt files to compile for one look
)

// passes has the requests of crawlers that robots.txt allowed since the last look at them, at most
// maxPassed, and what the looks have found. Requests wait for no look, and allocate
// nothing.
type passes struct {
	full   atomic.Bool
	mu     sync.Mutex
	list   []pass
	missed map[missedFile]*nearmiss.Counts
}

// pass is a request of a crawler that robots.txt allowed.
type pass struct {
	source     uint64
	origin     judge.Origin // without its host
	rules      *judge.Rules
	group      *robots.Group
	host, size int // octets of the host, with which text begins, and with the target, which follows
	text       [maxPassText]byte
}

// missedFile is a version of the robots.txt of an origin.
type missedFile struct {
	source  uint64
	origin  judge.Origin
	version string
}

func newPasses() *passes {
	return &passes{list: make([]pass, 0, maxPassed), missed: make(map[missedFile]*nearmiss.Counts)}
}

// add keeps a request for the next look, unless that has enough, or another one has the lock.
func (p *passes) add(d *judge.Decision, r *Request) {
	size := len(r.Origin.Host) + len(r.Target)
	if p.full.Load() || d.Reason != judge.Allowed || d.Reading != 0 || d.Rules == nil || size > maxPassText || !p.mu.TryLock() {
		return
	}
	defer p.mu.Unlock()
	n := len(p.list)
	if n == maxPassed {
		return
	}
	p.list = p.list[:n+1]
	one := &p.list[n]
	one.source, one.origin, one.rules, one.group = r.Source, judge.Origin{Scheme: r.Origin.Scheme, Port: r.Origin.Port}, d.Rules, d.Group
	one.host, one.size = copy(one.text[:], r.Origin.Host), size
	copy(one.text[one.host:], r.Target)
	p.full.Store(n+1 == maxPassed)
}

// look finds the requests that just missed a line. The caller holds mu.
func (p *passes) look() {
	compiled, left := make(map[*judge.Rules]*nearmiss.Rules), maxNearText
	for i := range p.list {
		one := &p.list[i]
		near, known := compiled[one.rules]
		if !known {
			if left -= one.rules.File().Size(); left >= 0 {
				near = nearmiss.New(one.rules.File())
			}
			compiled[one.rules] = near
		}
		text := string(one.text[:one.size])
		if miss, ok := near.Near(one.group, text[one.host:]); ok {
			one.origin.Host = text[:one.host]
			path, _, _ := strings.Cut(text[one.host:], "?")
			p.of(missedFile{one.source, one.origin, one.rules.Tag()}).Add(miss, 1, path)
		}
	}
	clear(p.list)
	p.list = p.list[:0]
	p.full.Store(false)
}

// of returns the Counts of a file. If there are too many files, it removes another one.
func (p *passes) of(f missedFile) *nearmiss.Counts {
	if p.missed[f] == nil {
		for other := range p.missed {
			if len(p.missed) < maxNearFiles {
				break
			}
			delete(p.missed, other)
		}
		p.missed[f] = new(nearmiss.Counts)
	}
	return p.missed[f]
}

// Missed returns the requests that just missed a line of a version of the robots.txt of a
// source, at those of its origins that are selected. If there were many requests, it does not
// know all.
func (c *Counters) Missed(source uint64, version string, selects func(judge.Origin) bool) (all nearmiss.Counts) {
	p := c.passes
	p.mu.Lock()
	defer p.mu.Unlock()
	p.look()
	byHost := func(a, b missedFile) int { return strings.Compare(a.origin.Host, b.origin.Host) }
	for _, f := range slices.SortedFunc(maps.Keys(p.missed), byHost) {
		if f.source == source && f.version == version && selects(f.origin) {
			for _, n := range *p.missed[f] {
				all.Add(nearmiss.Miss{Line: n.Line, Add: n.Add}, n.Requests, n.Paths...)
			}
		}
	}
	return all
}
