package challenge

import (
	"crypto/rand"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/caddy-robots/caddy-robots/internal/table"
)

// Bounds of what a Memory remembers: about 50 MB if all of it is used, and 16 to 120 kB for each origin.
const (
	maxMemos  = 7 << 16
	maxStorms = 1 << 10 // origins
)

const (
	minute = 60
	day    = 24 * 60 * minute // in seconds
)

// Memory has what checks remember. It outlives a configuration, and is safe for concurrent use.
type Memory struct {
	ring  atomic.Pointer[ring]
	first string // secret of this process: it signs until others are known

	keysFailed atomic.Pointer[error] // what the last exchange of keys returned; nil before the first
	damaged    atomic.Int64          // when keys that can't be read were replaced; 0: never

	memos  *table.Table[memo]
	storms *table.Table[Storm]
	seed   maphash.Seed
}

// NewMemory returns an empty Memory. It checks nobody until it was looked for keys.
func NewMemory() *Memory {
	m := &Memory{first: rand.Text(), seed: maphash.MakeSeed(), memos: table.New[memo](maxMemos), storms: table.New[Storm](maxStorms)}
	m.ring.Store(&ring{m.first})
	return m
}

// keys returns the keys that are accepted, of which the first signs.
func (m *Memory) keys() ring { return *m.ring.Load() }

// memo is what is remembered of an address (IPv4 /32, IPv6 /48), of a client, of a pass, or of a
// crawler's name, at a site. A client is an address (IPv6 /64) with a User-Agent. All times are in
// seconds since 1970.
type memo struct {
	seen atomic.Uint32

	own bucket // of a pass, a client or a name
	few bucket // of a pass or a client, while its address has no more
	all bucket // of an address: of all its passes and known clients

	// When a client showed a sign last, and when the site last saw, while the check was off, that
	// it knows the client. A pass is known by its button.
	sign, known moment
	visited     moment // when an address was counted as a visitor of other pages
	// Somebody has come with a pass, or was shown a page for it; a client has one; an address got a
	// style sheet's cookie.
	used atomic.Bool

	mu sync.Mutex
	visit
}

// worth orders memos by the time of the last request.
func (m *memo) worth() int64 { return int64(m.seen.Load()) }

// memo returns what is remembered of something, by its key.
func (m *Memory) memo(key uint64, now uint32) *memo {
	return m.memos.Add(max(1, key), (*memo).worth, nil).touch(now)
}

// find returns what is remembered of something, and a memo that must not be changed if it is nothing.
func (m *Memory) find(key uint64, now uint32) *memo {
	if v := m.memos.Get(max(1, key)); v != nil {
		return v.touch(now)
	}
	return nothing
}

var nothing = new(memo)

// touch notes that something came.
func (m *memo) touch(now uint32) *memo {
	if m.seen.Load() != now {
		m.seen.Store(now)
	}
	return m
}

// pass returns what is remembered of a pass.
func (m *Memory) pass(t token, now uint32) *memo { return m.memo(maphash.Bytes(m.seed, t.id[:]), now) }

// moment is a time in seconds since 1970; 0: never.
type moment struct{ atomic.Uint32 }

// isRecent reports whether it was in the day before a time.
func (m *moment) isRecent(before uint32) bool {
	at := m.Load()
	return at != 0 && before-at <= day
}
