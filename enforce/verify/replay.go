package verify

import (
	"hash/maphash"
	"time"
)

// maxNonces is the number of nonces that replays can store.
const maxNonces = 65_536

// replays stores the nonces of verified signatures until the signatures expire. If there is no room, it drops a nonce whose signature expires
// soon. It is safe for concurrent use.
type replays struct {
	seed maphash.Seed
	seen expiries
}

func newReplays() *replays { return &replays{maphash.MakeSeed(), newExpiries(maxNonces)} }

// first reports whether the nonce was not used before with the key of that thumbprint, and stores it. expires is in seconds since 1970.
func (r *replays) first(thumbprint, nonce string, expires int64, now time.Time) bool {
	used := r.seen.add(maphash.String(r.seed, thumbprint+"\x00"+nonce))
	before := used.Load()
	return before <= now.Unix() && used.CompareAndSwap(before, expires)
}
