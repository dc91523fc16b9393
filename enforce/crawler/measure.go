package crawler

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Measure counts the classes and purposes of the User-Agents in a list.
type Measure struct {
	Total   int
	Classes [Library + 1]int // by Class
	Purpose map[Purpose]int  // of those in the registry
}

// maxLine bounds a line of a list.
const maxLine = 1 << 20

// MeasureList identifies each line of a list as [Matcher.Identify] does, one User-Agent a line, up to a TAB if there is one. Empty lines
// count as empty User-Agents. It calls each, if not nil, with every line's User-Agent and identity.
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

// Share returns the part of the list that got one of the classes, 0 to 1; 0 for an empty list.
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

// String prints the share of each class, in percent.
func (m *Measure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d User-Agents", m.Total)
	for c := range Library + 1 {
		fmt.Fprintf(&b, ", %s %.2f %% (%d)", c, 100*m.Share(c), m.Classes[c])
	}
	return b.String()
}
