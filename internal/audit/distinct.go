package audit

import (
	"github.com/axiomhq/hyperloglog"
)

// distinct counts different hashes. The count is exact up to exactHashes. Beyond, it
// is estimated with a HyperLogLog sketch of a few KiB, whose standard error is 0.8 %
// (precision 14) or 1.6 % (precision 12).
type distinct struct {
	precision uint8
	exact     []uint64
	sketch    *hyperloglog.Sketch
	last      uint64
}

// exactHashes is the largest number that a distinct counts exactly.
const exactHashes = 64

func (d *distinct) add(hash uint64) {
	if hash == d.last {
		return
	}
	d.last = hash
	if d.sketch != nil {
		d.sketch.InsertHash(hash)
		return
	}
	for _, h := range d.exact {
		if h == hash {
			return
		}
	}
	if len(d.exact) < exactHashes {
		d.exact = append(d.exact, hash)
		return
	}
	d.spill()
	d.sketch.InsertHash(hash)
}

// spill moves the hashes into a sketch.
func (d *distinct) spill() {
	d.sketch, _ = hyperloglog.NewSketch(d.precision, true) // the precision is valid
	for _, h := range d.exact {
		d.sketch.InsertHash(h)
	}
	d.exact = nil
}

// merge adds the hashes of other.
func (d *distinct) merge(other *distinct) {
	for _, h := range other.exact {
		d.add(h)
	}
	if other.sketch != nil {
		if d.sketch == nil {
			d.spill()
		}
		_ = d.sketch.Merge(other.sketch) // the precisions are the same
	}
}

// count returns the number, and whether it is an estimate.
func (d *distinct) count() (n int64, estimate bool) {
	if d.sketch != nil {
		return int64(d.sketch.Estimate()), true
	}
	return int64(len(d.exact)), false
}
