package robots

import (
	"path/filepath"
	"testing"
)

// vector is a test case of the project. Allowed is the result of Match. Served
// is the result of MatchViews, if it differs. Google is the result for one of
// Google's crawlers, which may fetch a path if one of the two readings allows
// it; it is set if it differs from Served.
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
			t.Errorf("two cases have the id %s", c.ID)
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
	t.Logf("%d cases of the project", len(rows))
	if len(rows) < 50 {
		t.Errorf("only %d cases, want at least 50", len(rows))
	}
}
