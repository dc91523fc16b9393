// Package heapsize estimates how much of the heap a value takes.
package heapsize

import (
	"math/bits"
	"reflect"
	"sync"
	"unsafe"
)

// Of estimates the octets of all allocations that v refers to, directly or not.
// What several references share counts once. It leaves out what the values of
// without refer to directly, which are pointers to structs; functions and
// channels; and strings in lists, which are usually parts of another string.
func Of(v any, without ...any) int64 {
	w := walks.Get().(*walk)
	for _, x := range without {
		p := reflect.ValueOf(x)
		w.seen[p.Pointer()] = true
		for i := range p.Elem().NumField() {
			if f := p.Elem().Field(i); f.Kind() == reflect.Pointer {
				w.seen[f.Pointer()] = true
			}
		}
	}
	w.value(reflect.ValueOf(v))
	octets := w.octets
	if len(w.seen) <= maxReused {
		clear(w.seen)
		w.octets = 0
		walks.Put(w)
	}
	return octets
}

// Later is the estimate of octets that a value will refer to later.
type Later int64

var laterType = reflect.TypeFor[Later]()

type walk struct {
	octets int64
	seen   map[uintptr]bool // addresses of allocations
}

// walks are reused: the map is as large as what is measured. A map with more than
// maxReused addresses is not, because it would never shrink.
var walks = sync.Pool{New: func() any { return &walk{seen: make(map[uintptr]bool)} }}

const maxReused = 1024

// add counts an allocation, unless it was counted. It reports whether it did.
func (w *walk) add(at uintptr, size uintptr) bool {
	if size == 0 || w.seen[at] {
		return false
	}
	w.seen[at] = true
	w.octets += int64(rounded(size))
	return true
}

// rounded returns the size of the block that the runtime uses for an allocation:
// there are about eight sizes between two powers of two.
func rounded(size uintptr) uintptr {
	step := max(8, uintptr(1)<<bits.Len(uint(size))>>4)
	return (size + step - 1) &^ (step - 1)
}

// value follows the references of v.
func (w *walk) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Int64:
		if v.Type() == laterType {
			w.octets += v.Int()
		}
	case reflect.Pointer:
		if !v.IsNil() && w.add(v.Pointer(), v.Type().Elem().Size()) {
			w.value(v.Elem())
		}
	case reflect.Interface:
		w.value(v.Elem())
	case reflect.String:
		w.add(uintptr(unsafe.Pointer(unsafe.StringData(v.String()))), uintptr(v.Len()))
	case reflect.Slice:
		if w.add(v.Pointer(), uintptr(v.Cap())*v.Type().Elem().Size()) && refers(v.Type().Elem()) {
			for i := range v.Len() {
				w.value(v.Index(i))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			w.value(v.Field(i))
		}
	case reflect.Map:
		if v.Len() > 0 {
			w.add(v.Pointer(), 64+uintptr(v.Len())*(v.Type().Key().Size()+v.Type().Elem().Size()+1)*3/2)
		}
		for all := v.MapRange(); all.Next(); {
			w.value(all.Key())
			w.value(all.Value())
		}
	}
}

// known has the results of refers.
var known sync.Map

// refers reports whether a type refers to something other than strings.
func refers(t reflect.Type) (yes bool) {
	if known, ok := known.Load(t); ok {
		return known.(bool)
	}
	switch t.Kind() {
	case reflect.Int64:
		yes = t == laterType
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		yes = true
	case reflect.Struct:
		for i := range t.NumField() {
			yes = yes || refers(t.Field(i).Type)
		}
	}
	known.Store(t, yes)
	return yes
}
