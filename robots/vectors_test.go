package robots

import (
	"path/filepath"
	"testing"
)

// vector is one of the project's own cases, which run everywhere. Served and
// Google are set where MatchViews, or that together with Google's reading of
// the file, answers otherwise than Match.
type vector struct {
	ID, Robots, Agent, Path, Note string
	Allowed                       bool
	Served, Google                *bool
}

func TestVectors(t *testing.T) {
	rows := readLines[vector](t, filepath.Join("testdata", "vectors.jsonl"))
	seen := map[string]bool{}
	var views Views
	for _, c := range rows {
		if seen[c.ID] {
			t.Errorf("%s: there are two", c.ID)
		}
		seen[c.ID] = true
		served := c.Allowed
		if c.Served != nil {
			served = *c.Served
		}
		google := served
		if c.Google != nil {
			google = *c.Google
		}
		f := Parse([]byte(c.Robots))
		views.Reset(c.Path, ViewOptions{})
		letter, both := f.Match(c.Path, c.Agent).Allowed, f.Group(c.Agent).MatchViews(&views).Allowed
		either := both
		if reading := f.GoogleReading(); reading != nil {
			either = either || reading.Group(c.Agent).MatchViews(&views).Allowed
		}
		if letter != c.Allowed || both != served || either != google {
			t.Errorf("%s: Match %v, MatchViews %v, with Google's reading %v, want %v, %v, %v: %s", c.ID, letter, both, either, c.Allowed, served, google, c.Note)
		}
	}
	t.Logf("own vectors: %d cases", len(rows))
	if len(rows) < 50 {
		t.Errorf("only %d own vectors", len(rows))
	}
}
