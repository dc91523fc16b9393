package verify

import (
	"crypto/sha256"
	"sync"
	"time"
)

// replaySlots is the number of nonces that replays can store.
const replaySlots = 65_536

// replays stores the nonces of verified signatures until the signatures expire. If there is no room, it drops a nonce whose signature expires
// soon. It is safe for concurrent use.
type replays struct {
	mu    sync.Mutex
	seen  partition
	cache *cache // only its keyed hash is used
}

// first reports whether the nonce was not used before with the key of that thumbprint, and stores it. expires is in seconds since 1970.
func (r *replays) first(thumbprint, nonce string, expires int64, now time.Time) bool {
	sum := sha256.Sum256([]byte(thumbprint + "\x00" + nonce))
	var key slotKey
	copy(key.addr[:], sum[:])
	_, hash := r.cache.shard(key)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = make(partition, replaySlots)
	}
	if _, ok := r.seen.get(hash, key, stamp(now)); ok {
		return false
	}
	r.seen.put(hash, key, stamp(time.Unix(expires, 0)))
	return true
}
