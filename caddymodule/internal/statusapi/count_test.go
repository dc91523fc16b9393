package statusapi

import (
	"reflect"
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
