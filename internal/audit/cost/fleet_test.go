package cost_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
)

// Who wants what others hardly want is a fleet, under the commonest browser's name too; visitors with
// one User-Agent who want what all want, and few of them, are none.
func TestFindFleet(t *testing.T) {
	t.Parallel()
	blame := func(i int) string { return fmt.Sprintf("/o%d/r%d/blame/f%d.go", i%7, i%11, i) }
	home := func(i int) string { return fmt.Sprintf("/o%d/r%d", i%7, i%11) }
	for name, tt := range map[string]struct {
		here, elsewhere, othersHere, others int
		want                                bool
	}{
		"fleet":                     {here: 60, others: 40, want: true},
		"under a common name":       {here: 60, elsewhere: 8, othersHere: 2, others: 40, want: true},
		"a common browser":          {here: 40, elsewhere: 20, othersHere: 30, others: 38},
		"few":                       {here: 20, others: 100},
		"nobody else":               {here: 100},
		"all want these":            {here: 60, othersHere: 60},
		"others want these as well": {here: 60, othersHere: 50, others: 20},
	} {
		var visits []cost.Visit
		for i := range 120 {
			for agent, n := range map[string][2]int{"A": {tt.here, tt.elsewhere}, fmt.Sprint("B", i%9): {tt.othersHere, tt.others}} {
				if i < n[0] {
					visits = append(visits, cost.Visit{Agent: agent, Target: blame(i)})
				}
				if i < n[1] {
					visits = append(visits, cost.Visit{Agent: agent, Target: home(i)})
				}
			}
		}
		f, ok := cost.FindFleet(visits)
		if ok != tt.want || ok && (f.Agent != "A" || !slices.Equal(f.Patterns, []string{"/*/*/blame/*"}) || f.Here != tt.here || f.OthersElsewhere != tt.others) {
			t.Errorf("%s: %v %+v", name, ok, f)
		}
	}
}
