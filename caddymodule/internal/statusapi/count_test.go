package statusapi

import (
	"reflect"
	"slices"
	"testing"
)

func TestCountsAdd(t *testing.T) {
	// Each field has a value of its own, so that none is forgotten or mixed up.
	var one, want Counts
	for i, field := range reflect.VisibleFields(reflect.TypeFor[Counts]()) {
		if field.Anonymous {
			continue
		}
		reflect.ValueOf(&one).Elem().FieldByIndex(field.Index).SetUint(uint64(i + 1))
		reflect.ValueOf(&want).Elem().FieldByIndex(field.Index).SetUint(uint64(2 * (i + 1)))
	}
	sum := one
	if sum.Add(one); sum != want {
		t.Errorf("the sum is %+v, want %+v", sum, want)
	}
}

func TestPages(t *testing.T) {
	for _, tt := range []struct {
		name           string
		pages          Pages
		n              int
		from, to, next int
	}{
		{"an empty list", Pages{}, 0, 0, 0, 0},
		{"a short list", Pages{}, 3, 0, 3, 0},
		{"the default limit", Pages{}, 150, 0, DefaultLimit, DefaultLimit},
		{"the last page", Pages{Offset: 100}, 150, 100, 150, 0},
		{"a page that ends with the list", Pages{Offset: 1, Limit: 2}, 3, 1, 3, 0},
		{"a page in the middle", Pages{Offset: 30, Limit: 20}, 5000, 30, 50, 50},
		{"the maximum limit", Pages{Limit: MaxLimit + 1}, 5000, 0, MaxLimit, MaxLimit},
		{"an offset after the end", Pages{Offset: 9}, 3, 3, 3, 0},
		{"negative numbers", Pages{Offset: -1, Limit: -1}, 3, 0, 3, 0},
	} {
		list := make([]int, tt.n)
		for i := range list {
			list[i] = i
		}
		page, part := Part(tt.pages, list)
		if want := (Page{Total: tt.n, Offset: tt.from, Next: tt.next}); page != want || part == nil || !slices.Equal(part, list[tt.from:tt.to]) {
			t.Errorf("%s: %+v with %v, want %+v with those from %d to %d", tt.name, page, part, want, tt.from, tt.to)
		}
	}
}
