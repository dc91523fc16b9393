package fleet

import "testing"

// A brace in the prefix must not spoil the names of budgets that a cluster stores
// on one master.
func TestFleetPrefix(t *testing.T) {
	for prefix, ok := range map[string]bool{"": true, "a:": true, "{a}:": true, "a}": true, "a{": false, "{}": false, "{:": false} {
		if err := (&Fleet{URL: "redis://h", Prefix: prefix}).check(); (err == nil) != ok {
			t.Errorf("%q: %v", prefix, err)
		}
	}
}
