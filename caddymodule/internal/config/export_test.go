package config

import (
	"maps"
	"slices"
)

// SiteLines returns the names of the lines of the directive robots.
func SiteLines() []string {
	return slices.Sorted(maps.Keys((&parser{settings: new(Settings)}).site()))
}

// GlobalLines are the names of the lines that only the global option has.
var GlobalLines = globalLines
