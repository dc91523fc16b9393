package shared

import "testing"

// closer counts calls of Close.
type closer struct{ closed int }

func (c *closer) Close() error { c.closed++; return nil }

func TestValuesAreClosedAfterTheLastRelease(t *testing.T) {
	create := func() *closer { return new(closer) }
	first, releaseFirst := Get(t.Name(), create)
	again, releaseAgain := Get(t.Name(), create)
	if first != again {
		t.Error("two values with one key")
	}
	if err := releaseFirst(); err != nil || first.closed != 0 {
		t.Errorf("closed %d times while it is in use, %v", first.closed, err)
	}
	if err := releaseAgain(); err != nil || first.closed != 1 {
		t.Errorf("closed %d times after the last release, %v", first.closed, err)
	}
	other, release := Get(t.Name(), create)
	if other == first {
		t.Error("a closed value is used again")
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}
