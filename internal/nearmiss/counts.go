package nearmiss

import (
	"fmt"
	"slices"

	"github.com/caddy-robots/caddy-robots/internal/words"
)

const (
	maxCounts = 100 // lines to add to one file
	maxPaths  = 3
)

// Count counts the requests for which a line could be added.
type Count struct {
	// Add is the line, to be written below the one that never applied.
	Add      string   `json:"add"`
	Requests int64    `json:"requests"` // of robots; these got what they requested
	Paths    []string `json:"paths"`    // the first three different ones
	line     int
	others   bool
}

// Counts has the Counts of the lines of one robots.txt, at most 100. The zero value has none.
type Counts []Count

// Add counts a request that missed a line. It keeps the target as shown returns it.
func (c *Counts) Add(m Miss, target string, shown func(string) string) {
	i := slices.IndexFunc(*c, func(n Count) bool { return n.line == m.Line && n.Add == m.Add })
	if i < 0 {
		if i = len(*c); i == maxCounts {
			return
		}
		*c = append(*c, Count{Add: m.Add, line: m.Line})
	}
	n := &(*c)[i]
	n.Requests++
	if n.others {
		return
	}
	switch path := shown(target); {
	case slices.Contains(n.Paths, path):
	case len(n.Paths) == maxPaths:
		n.others = true
	default:
		n.Paths = append(n.Paths, path)
	}
}

// Of returns the Counts of a line, and what they say in words.
func (c Counts) Of(line int) (list []Count, text string) {
	for _, n := range c {
		if n.line == line {
			list = append(list, n)
			text += fmt.Sprintf("; robots requested %s %s: add \"%s\"", n.requested(), words.Plural(n.Requests, "time", "times"), n.Add)
		}
	}
	return list, text[min(len(text), len("; ")):]
}

// requested returns the first path in words, and whether there are others.
func (n *Count) requested() string {
	if len(n.Paths) > 1 {
		return n.Paths[0] + " and others"
	}
	return n.Paths[0]
}
