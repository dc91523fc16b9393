package origins

import (
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// dropped has the names in the files of evicted origins. It takes at most maxDroppedSize octets. The caller holds store.mu.
type dropped struct {
	names  map[judge.Origin]judge.Names
	octets int64
}

// maxDroppedSize limits the octets of a dropped.
const maxDroppedSize = 8 << 20

// put keeps the names of an origin. If there are too many, it drops those of
// others, in no order.
func (d *dropped) put(origin judge.Origin, names judge.Names) {
	if d.names == nil {
		d.names = make(map[judge.Origin]judge.Names)
	}
	d.take(origin)
	d.names[origin] = names
	d.octets += names.Size()
	for other := range d.names {
		if d.octets <= maxDroppedSize {
			return
		}
		d.take(other)
	}
}

// take returns the names of an origin, if there are some, and forgets them.
func (d *dropped) take(origin judge.Origin) judge.Names {
	names := d.names[origin]
	delete(d.names, origin)
	d.octets -= names.Size()
	return names
}
