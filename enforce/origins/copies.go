package origins

import (
	"os"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

const maxCopiesSize = 16 << 20 // octets of all bodies

// How long a cached copy stays in force while its source gives no newer answer.
const (
	// keepRefused applies while the source answers 4xx other than 404 and 410,
	// such as 401 and 403: 24 hours, the time for which crawlers may use a
	// cached copy too (RFC 9309, section 2.4).
	keepRefused = 24 * time.Hour
	// keepFailed applies while the source fails: 30 days. Google keeps the last
	// good copy for the same time.
	keepFailed = 30 * 24 * time.Hour
)

// goodCopy is the last good answer of a source: a robots.txt, or the answer
// that there is none.
type goodCopy struct {
	judge.Content             // its state is Loaded or Missing
	at            time.Time   // when the source last confirmed it
	file          os.FileInfo // that was read; nil of a source without files
}

// Copies is a cache of each origin's last good answer: a robots.txt, or the
// answer that there is none. It outlives the engines that use it. So after a
// reload of the configuration the rules are in force at once, even if the
// source can't be read. It holds at most 10,000 answers of 16 MiB together. It
// is safe for concurrent use. The zero value is
// empty. A nil Copies holds nothing.
type Copies = kept[judge.Origin, goodCopy]

// Size returns the octets of the text.
func (c goodCopy) Size() int64 { return int64(len(c.Body)) }
