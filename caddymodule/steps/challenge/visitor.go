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
	mu       sync.Mutex
	seen     uint32           // the last request that counted
	embedded uint32           // when it fetched an embedded file last
	lone     [lonelyFor]uint8 // pages by second, modulo lonelyFor, that an embedded file takes back
	waits    bool             // there are some of these
	new      uint32           // when it came, as an address that was never seen before, while that counts

	since      uint32 // when a minute began, with a page
	pages      uint8  // in that minute
	loneOfThem uint8
	tooFast    bool // they have reached mostPages

	hour   uint32 // in which passes were made
	passes uint8  // new passes in that hour

	visits, embedsToo bool // of a network: it visits other pages, and fetches embedded files

	known bucket // of a known visitor without a pass
	all   bucket // of all passes together
}

// worth orders addresses by the time of the last request.
func (v *visitor) worth() int64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return int64(v.seen)
}

// advance forgets the pages that can no longer be taken back. A request may be overtaken by
// others; if its time is much earlier, the clock was set back. The caller holds mu.
func (v *visitor) advance(now uint32) {
	switch {
	case now-v.seen < lonelyFor:
		for v.seen < now {
			v.seen++
			v.lone[v.seen%lonelyFor] = 0
		}
	case v.seen-now >= lonelyFor:
		v.lone, v.waits, v.seen = [lonelyFor]uint8{}, false, now
	}
}

// isLone reports whether the address fetched no embedded file in the day before.
func (v *visitor) isLone(now uint32) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.embedded == 0 || now-v.embedded >= day
}

// addLone adds a page that an embedded file takes back.
func (v *visitor) addLone(now uint32, isNew bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.advance(now)
	v.lone[now%lonelyFor]++
	v.waits = true
	if isNew {
		v.new = now
	}
}

// removeLone removes such a page, and reports whether it still counted as that of a lone
// address.
func (v *visitor) removeLone(at uint32) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.embedded-at < lonelyFor { // which has taken it back
		return false
	}
	if n := &v.lone[at%lonelyFor]; v.seen-at < lonelyFor && *n > 0 {
		*n--
	}
	if v.new == at {
		v.new = 0
	}
	return true
}

// embeds notes an embedded file. It returns the pages that it takes back, by second, modulo
// lonelyFor, the latest of these seconds, and when the address came if that no longer counts;
// ok is false if there are none.
func (v *visitor) embeds(now uint32) (pages [lonelyFor]uint8, latest, new uint32, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.advance(now)
	v.embedded = now
	if !v.waits {
		return pages, 0, 0, false
	}
	pages = v.lone
	v.lone, v.waits = [lonelyFor]uint8{}, false
	if now-v.new < lonelyFor {
		new = v.new
	}
	v.new = 0
	return pages, v.seen, new, true
}

// comes counts a page in this minute, and returns as how many of lone addresses it counts:
// the one that reaches mostPages makes all others of the minute lone ones. ok is false if
// there were as many before.
func (v *visitor) comes(now uint32, lone bool) (ok bool, asLone int32) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.advance(now)
	if now-v.since >= minute {
		v.since, v.pages, v.loneOfThem, v.tooFast = now, 0, 0, false
	}
	if v.pages >= mostPages {
		return false, 0
	}
	before := v.loneOfThem
	v.pages++
	v.tooFast = v.tooFast || v.pages == mostPages
	if v.tooFast {
		v.loneOfThem = v.pages
	} else if lone {
		v.loneOfThem++
	}
	return true, int32(v.loneOfThem) - int32(before)
}

// goes takes a page of a time back, and reports whether it counted as that of a lone address.
func (v *visitor) goes(at uint32, lone bool) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if at-v.since >= minute || v.pages == 0 {
		return lone
	}
	v.pages--
	lone = lone || v.tooFast
	if lone && v.loneOfThem > 0 {
		v.loneOfThem--
	}
	return lone
}

// takeBack takes pages of a time back from those of a lone address, and reports whether that
// changes anything: not if they come too fast.
func (v *visitor) takeBack(at uint32, pages uint8) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if at-v.since >= minute {
		return true
	}
	if v.tooFast {
		return false
	}
	v.loneOfThem -= min(pages, v.loneOfThem)
	return true
}

// visitsOrEmbeds notes what a network does at other pages of the site, in its count.
func (v *visitor) visitsOrEmbeds(c *embedding, embeds bool, now uint32) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.advance(now)
	visits := !embeds && !v.visits
	knew := v.visits && v.embedsToo
	v.visits, v.embedsToo = v.visits || visits, v.embedsToo || embeds
	c.add(visits, v.visits && v.embedsToo && !knew)
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

// hasPass reports whether the address got a pass in this hour.
func (v *visitor) hasPass(now uint32) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.hour == now/3600 && v.passes > 0
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
