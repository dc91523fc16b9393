package statusapi

import (
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/section"
)

// Section is a table that a feature shows.
type Section = section.Section

// Column is a column of a Section.
type Column = section.Column

// Feature is a feature of a robots handler, as reports see it. Its methods are safe for
// concurrent use. monitored says that the handler refuses nothing.
type Feature interface {
	// View returns the section of the handler, one without a title for none. It has no column
	// for the handler's sites.
	View(monitored bool) Section
	// Problems returns what is wrong now. Without Sites it is about all sites of the handler,
	// and without Subject about the first of them.
	Problems(monitored bool) []Problem
	// Explain says what the feature may still do with a request that is let through, such as
	// "refused while the server is busy"; "" for nothing. It changes nothing, and is also
	// called where the feature is not set up.
	Explain(r *judge.Request, d *judge.Decision) string
}

// Explain returns a function that says what features may still do with a request that is
// let through.
func Explain(features []Feature) func(*judge.Request, *judge.Decision) []string {
	return func(r *judge.Request, d *judge.Decision) []string {
		list := []string{}
		for _, f := range features {
			if text := f.Explain(r, d); text != "" {
				list = append(list, text)
			}
		}
		return list
	}
}
