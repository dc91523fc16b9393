package challenge

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

const day = 24 * 60 * 60 // in seconds

// visitor is what is remembered of an address, or of a network, at a site. All times are in
// seconds since 1970.
type visitor struct {
	seen atomic.Uint32

	mu       sync.Mutex
	embedded uint32 // when it fetched an embedded file last; 0: never

	// Its pages within lonelyFor count in the second of the first of them.
	at    uint32
	lone  int32 // of these, those that an embedded file takes back
	isNew bool  // one of these is that of an address that was never seen before
	taken bool  // an embedded file has taken them back

	since uint32 // when a minute began, with a page
	pages int    // in that minute

	hour   uint32 // in which passes were made
	passes uint8  // new passes in that hour

	visits, embeds bool // of a network: it visits other pages, and fetches embedded files

	known bucket // of a known visitor without a pass, or of a crawler's name
	all   bucket // of all passes together
}

// worth orders visitors by the time of the last request.
func (v *visitor) worth() int64 { return int64(v.seen.Load()) }

// isPast reports whether a time is over: not if requests overtake each other, but if the clock
// was set back.
func isPast(begin, now uint32, length int32) bool {
	age := int32(now - begin)
	return age >= length || age <= -length
}

// visit notes what a network does at other pages of the site, in its count.
func (v *visitor) visit(c *embedding, embeds bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	knew := v.visits && v.embeds
	if !embeds && !v.visits {
		v.visits = true
		c.addVisitor()
	}
	v.embeds = v.embeds || embeds
	if v.visits && v.embeds && !knew {
		c.embedding.Add(1)
	}
}

// passesAnHour is how many passes an address gets in an hour by the style sheet.
const passesAnHour = 30

// mayGet reports whether the address may get one more pass by the style sheet in this
// hour; with take, it is counted.
func (v *visitor) mayGet(now uint32, take bool) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if hour := now / 3600; v.hour != hour {
		v.hour, v.passes = hour, 0
	}
	if v.passes >= passesAnHour {
		return false
	}
	if take {
		v.passes++
	}
	return true
}

// client is what is remembered of an address with a User-Agent at a site. Clients that send
// all Sec-Fetch-* fields and those that do not are two: a program is not taken for the
// browsers at its address. All times are in seconds since 1970.
type client struct {
	seen   atomic.Uint32
	sign   atomic.Uint32 // when it showed a sign last; see sign.go
	styled atomic.Uint32 // when it got a pass that counted, by the style sheet

	// When it last got a page, what pages embed, and an answer to what proves that the site
	// knows it, while the check was off.
	page, embedded, served atomic.Uint32
}

func (c *client) worth() int64 { return int64(c.seen.Load()) }

// isKnown reports whether the site knew the client in the day before a time.
func (c *client) isKnown(since uint32) bool {
	within := func(at uint32) bool { return at != 0 && since-at <= day }
	return within(c.served.Load()) || within(c.page.Load()) && within(c.embedded.Load())
}

// bucket is a leaky bucket (GCRA). The zero value is empty.
type bucket struct{ until atomic.Int64 }

// take takes a request of a bucket that may have one in every interval, and burst at
// once. It returns how long to wait if there is none.
func (b *bucket) take(now time.Time, interval time.Duration, burst int) (wait time.Duration) {
	at := now.UnixNano()
	for {
		old := b.until.Load()
		until := max(old, at) + int64(interval)
		if old-at > int64(interval)*int64(burst)+int64(throttle.MaxLead) { // the clock was set back
			until = at + int64(interval)
		}
		if over := until - at - int64(interval)*int64(burst); over > 0 {
			return time.Duration(over)
		}
		if b.until.CompareAndSwap(old, until) {
			return 0
		}
	}
}

// giveBack gives a request back.
func (b *bucket) giveBack(interval time.Duration) { b.until.Add(-int64(interval)) }
