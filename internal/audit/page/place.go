package page

import (
	"strconv"

	"github.com/caddy-robots/caddy-robots/internal/audit"
)

// place is a reference to a line of a robots.txt or of the configuration.
type place struct {
	Text  string // the line
	Where string // for readers: "line 7"
	Href  string // link to the line in a listing; "" if the line is not shown
}

// key identifies a line by the fields of an audit.Verdict.
type key struct {
	source int
	layer  string
	line   int
}

// places are the id attributes of the lines that the listings show.
type places map[key]string

// of returns the place of a line with its text.
func (p places) of(source int, layer string, line int, text string) place {
	at := place{Text: text}
	if line > 0 {
		at.Where = where(layer, line)
	}
	if id := p[key{source, layer, line}]; id != "" {
		at.Href = "#" + id
	}
	return at
}

// ofVerdict returns the place of the line that decided.
func (p places) ofVerdict(v *audit.Verdict) place { return p.of(v.Source, v.Layer, v.Line, v.Text) }

// where returns the number and the file of a line in words.
func where(layer string, line int) string {
	n := strconv.Itoa(line)
	switch layer {
	case "policy":
		return "policy, line " + n + " of the configuration"
	case "hidden":
		return "hidden, line " + n + " of the configuration"
	}
	return "line " + n
}
