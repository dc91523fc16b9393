package lint

import (
	"strings"
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

// readers are the parsers, besides those of RFC 9309, for which safe
// corrections change no verdict.
var readers = []reader{
	{"Google", readGoogle},
	{"the standard of 1994", read1994},
}

// readGoogle reads a file as google/robotstxt does.
func readGoogle(data []byte) func(agent, path string) bool {
	f := robots.Parse(data, robots.WithMaxSize(len(data)))
	if g := f.GoogleReading(); g != nil {
		f = g
	}
	return func(agent, path string) bool { return f.Group(agent).Match(path).Allowed }
}

// record1994 is a record of the standard of 1994.
type record1994 struct {
	agents []string
	rules  []rule1994
}

type rule1994 struct {
	allow bool
	path  string
}

// read1994 reads a file exactly as the standard of 1994 says: a blank line ends
// a record, but a line with only a comment does not; keys start in the first
// column and are not misspelt; paths are compared as they are written. It also
// supports Allow; the first rule that matches decides.
func read1994(data []byte) func(agent, path string) bool {
	var records []record1994
	open := false // the last record is not ended
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data))
	for line := range strings.SplitSeq(text, "\n") {
		content, _, comment := strings.Cut(line, "#")
		if strings.TrimSpace(content) == "" {
			if !comment {
				open = false
			}
			continue
		}
		key, value, _ := strings.Cut(content, ":")
		value = strings.TrimSpace(value)
		switch strings.ToLower(strings.TrimRight(key, " \t")) {
		case "user-agent":
			if !open || len(records[len(records)-1].rules) > 0 {
				records = append(records, record1994{})
				open = true
			}
			r := &records[len(records)-1]
			r.agents = append(r.agents, strings.ToLower(value))
		case "allow", "disallow":
			if open {
				r := &records[len(records)-1]
				r.rules = append(r.rules, rule1994{key[0] == 'a' || key[0] == 'A', value})
			}
		}
	}
	return func(agent, path string) bool {
		r := find1994(records, strings.ToLower(agent))
		if r == nil {
			return true
		}
		for _, rule := range r.rules {
			if strings.HasPrefix(path, rule.path) {
				return rule.allow || rule.path == ""
			}
		}
		return true
	}
}

// find1994 returns the first record that names the agent. If there is none, it
// returns the record for *.
func find1994(records []record1994, agent string) (star *record1994) {
	for i := range records {
		for _, name := range records[i].agents {
			switch {
			case name == "*":
				if star == nil {
					star = &records[i]
				}
			case name != "" && strings.Contains(agent, name):
				return &records[i]
			}
		}
	}
	return star
}
