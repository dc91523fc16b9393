package crawler

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Measure counts the classes and purposes of the User-Agents in a list.
type Measure struct {
	Total   int              // User-Agents
	Classes [Library + 1]int // User-Agents by class (see Identity.Class)
	Purpose map[Purpose]int  // User-Agents by purpose of the first crawler that is in the registry
}

// maxLine is the maximum length of a line of a list, in octets.
const maxLine = 1 << 20

// MeasureList identifies each line of a list as [Matcher.Identify] does. A line is one User-Agent; a TAB and the text after it are ignored. An
// empty line counts as an empty User-Agent. If each is not nil, MeasureList calls it with the User-Agent and the identity of each line; the
// identity is valid during the call only. A line of more than 1 MiB is an error.
func (m *Matcher) MeasureList(list io.Reader, each func(ua string, id *Identity)) (Measure, error) {
	sum := Measure{Purpose: map[Purpose]int{}}
	s := bufio.NewScanner(list)
	s.Buffer(nil, maxLine)
	var id Identity
	for s.Scan() {
		ua, _, _ := strings.Cut(s.Text(), "\t")
		m.Identify(ua, &id)
		sum.Total++
		sum.Classes[id.Class()]++
		for i := range id.Len() {
			if c := id.At(i).Crawler; c != nil {
				sum.Purpose[c.Purpose]++
				break
			}
		}
		if each != nil {
			each(ua, &id)
		}
	}
	if err := s.Err(); err != nil {
		return sum, fmt.Errorf("reading line %d: %w", sum.Total+1, err)
	}
	return sum, nil
}

// Share returns the share of User-Agents that have one of the classes, from 0 to 1; 0 for an empty list.
func (m *Measure) Share(classes ...Class) float64 {
	n := 0
	for _, c := range classes {
		n += m.Classes[c]
	}
	if m.Total == 0 {
		return 0
	}
	return float64(n) / float64(m.Total)
}

// String returns the number of User-Agents, and for each class its share in percent and its number.
func (m *Measure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d User-Agents", m.Total)
	for c := range Library + 1 {
		fmt.Fprintf(&b, ", %s %.2f %% (%d)", c, 100*m.Share(c), m.Classes[c])
	}
	return b.String()
}
