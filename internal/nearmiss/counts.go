package nearmiss

import (
	"fmt"
	"slices"

	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Maximum numbers of Counts, of those of one line, and of paths.
const (
	maxCounts  = 100
	maxPerLine = 4
	maxPaths   = 3
)

// Count counts the requests for which a line could be added.
type Count struct {
	// Line is the one that never applied. Add is to be written below it.
	Line     int      `json:"-"`
	Add      string   `json:"add"`
	Requests int64    `json:"requests"` // of robots; these got what they requested
	Paths    []string `json:"paths"`    // the first three different ones
}

// Counts has the Counts of the lines of one robots.txt.
type Counts []Count

// Add counts requests for these paths that missed a line.
func (c *Counts) Add(m Miss, requests int64, paths ...string) {
	at, ofLine := -1, 0
	for i := range *c {
		if n := &(*c)[i]; n.Line == m.Line {
			if ofLine++; n.Add == m.Add {
				at = i
			}
		}
	}
	if at < 0 {
		if at = len(*c); at == maxCounts || ofLine == maxPerLine {
			return
		}
		*c = append(*c, Count{Line: m.Line, Add: m.Add})
	}
	n := &(*c)[at]
	n.Requests += requests
	for _, path := range paths {
		if len(n.Paths) < maxPaths && !slices.Contains(n.Paths, path) {
			n.Paths = append(n.Paths, path)
		}
	}
}

// Of returns the Counts of a line, and what they say in words. about stands before numbers.
func (c Counts) Of(line int, about string) (list []Count, text string) {
	for _, n := range c {
		if n.Line != line {
			continue
		}
		if len(list) > 0 {
			text += "; "
		}
		list = append(list, n)
		others := ""
		if len(n.Paths) > 1 {
			others = " and others"
		}
		text += fmt.Sprintf("robots requested %s%s %s%s: add %q", n.Paths[0], others, about, words.Plural(n.Requests, "time", "times"), n.Add)
	}
	return list, text
}
