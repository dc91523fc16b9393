package page

import (
	"strconv"

	"github.com/caddy-robots/caddy-robots/enforce/audit"
)

// place is a line of a robots.txt, or of the configuration, that something
// refers to.
type place struct {
	Text  string // the line
	Where string // for people: "line 7"
	Href  string // of the listing, "" where that does not show the line
}

// key names a line as verdicts do.
type key struct {
	source int
	layer  string
	line   int
}

// places are the lines that the listings show, with their identifiers.
type places map[key]string

// of returns the place of a line. Texts are given where the line may not be
// in the listings.
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

// ofVerdict returns the line that decided.
func (p places) ofVerdict(v *audit.Verdict) place { return p.of(v.Source, v.Layer, v.Line, v.Text) }

// where says in which file a line of a layer is.
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
