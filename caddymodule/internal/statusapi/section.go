package statusapi

import (
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/section"
)

// Section is a table that a feature shows.
type Section = section.Section

// Column is a column of a Section.
type Column = section.Column

// What a step of a robots handler shows, each of these if it has such a method. The methods are
// safe for concurrent use. monitored says that the handler refuses nothing.
type (
	// Viewer has something to see.
	Viewer interface {
		// View returns the section of the handler, without a column for the handler's sites.
		View(monitored bool) Section
	}
	// Diagnoser knows what is wrong.
	Diagnoser interface {
		// Problems returns what is wrong now. Without Sites it is about all sites of the handler,
		// and without Subject about the first of them.
		Problems(monitored bool) []Problem
	}
	// Explainer may still do something with a request that is let through.
	Explainer interface {
		// Explain says what, such as "refused while the server is busy"; "" for nothing. It
		// changes nothing, and is also called where the step is not set up.
		Explain(r *judge.Request, d *judge.Decision) string
	}
)

// Explain returns a function that says what steps may still do with a request that is let
// through.
func Explain(steps []Explainer) func(*judge.Request, *judge.Decision) []string {
	return func(r *judge.Request, d *judge.Decision) []string {
		list := []string{}
		for _, s := range steps {
			if text := s.Explain(r, d); text != "" {
				list = append(list, text)
			}
		}
		return list
	}
}
