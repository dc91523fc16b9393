package heapsize

import (
	"runtime"
	"testing"
)

type node struct {
	text  string
	list  []int64
	other *node
	all   map[string]*node
	any   any
}

// What several references share counts once, and what the caller leaves out does
// not count.
func TestOf(t *testing.T) {
	shared := &node{list: make([]int64, 100)}
	one := Of(&node{other: shared})
	for name, n := range map[string]*node{
		"a second reference": {other: shared, any: shared},
		"a cycle":            {other: func() *node { c := &node{list: make([]int64, 100)}; c.other = c; return c }()},
	} {
		if got := Of(n); got != one {
			t.Errorf("%s: %d octets, want %d", name, got, one)
		}
	}
	if got, want := Of(&node{other: shared}, &node{other: shared}), Of(&node{}); got != want {
		t.Errorf("%d octets without the other node, want %d", got, want)
	}
	if got := Of(&node{all: map[string]*node{"shared": shared}}); got <= one {
		t.Errorf("%d octets with a map, %d without", got, one)
	}
	type later struct {
		one  Later
		more []Later
	}
	if got := Of(&later{one: 1000, more: []Later{500}}); got != Of(&later{more: []Later{0}})+1500 {
		t.Errorf("%d octets with those of later", got)
	}
	if Of(&node{}, &node{}) != Of(&node{}) || Of(nil) != 0 {
		t.Error("a node without references does not count")
	}
}

// The estimate is within a tenth of what the runtime uses.
func TestOfIsTheHeap(t *testing.T) {
	var took, estimate int64
	for range 5 { // something else can allocate meanwhile
		before := heap()
		keep := make([]*node, 0, 20_000)
		for i := range cap(keep) {
			keep = append(keep, &node{text: string(make([]byte, 20+i%300)), list: make([]int64, i%70), other: new(node), any: &[3]int64{}})
		}
		took, estimate = heap()-before, Of(keep)
		runtime.KeepAlive(keep)
		if took-estimate < estimate/10 && estimate-took < estimate/10 {
			return
		}
	}
	t.Errorf("%d octets, estimated %d", took, estimate)
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
