package lint

import (
	"testing"

	"github.com/caddy-robots/caddy-robots/robots"
)

// reader is a parser of robots.txt files.
type reader struct {
	name string
	read func(data []byte) func(agent, path string) bool // reports whether a path is allowed
}

// checkSame fails the test if a parser has different verdicts for two files.
func (r reader) checkSame(t *testing.T, before, after []byte, agents, paths []string) {
	t.Helper()
	x, y := r.read(before), r.read(after)
	for _, agent := range agents {
		for _, path := range paths {
			if was, is := x(agent, path), y(agent, path); was != is {
				t.Fatalf("%s: %q for %q: allowed %v before, %v after\n%q\nbecame\n%q", r.name, path, agent, was, is, before, after)
			}
		}
	}
}

// rfcReaders returns the two ways in which package robots compares paths: as
// requested (Group.Match), and also as served (Group.MatchViews).
func rfcReaders(d robots.Dialect) []reader {
	parse := func(data []byte) *robots.File {
		return robots.Parse(data, robots.WithDialect(d), robots.WithMaxSize(len(data)))
	}
	return []reader{
		{"RFC 9309", func(data []byte) func(agent, path string) bool {
			f := parse(data)
			return func(agent, path string) bool { return f.Group(agent).Match(path).Allowed }
		}},
		{"RFC 9309, with paths as served", func(data []byte) func(agent, path string) bool {
			f := parse(data)
			return func(agent, path string) bool {
				var v robots.Views
				v.Reset(path, robots.ViewOptions{})
				return f.Group(agent).MatchViews(&v).Allowed
			}
		}},
	}
}

// checkSameVerdicts fails the test if one of the parsers has different verdicts
// for two files.
func checkSameVerdicts(t *testing.T, readers []reader, before, after []byte, agents, paths []string) {
	t.Helper()
	for _, r := range readers {
		r.checkSame(t, before, after, agents, paths)
	}
}
