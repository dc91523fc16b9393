// Package target says what the targets of requests are: path and query.
//
//	g := target.Group("/search", "/*/blame/")
//	fmt.Println(target.Matches(g, "/app/blame/x.go")) // true
package target

import (
	"net/url"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/robots"
)

// Group returns a group of robots.txt that disallows patterns.
func Group(patterns ...string) *robots.Group {
	return robots.ParseText("User-agent: *\nDisallow: " + strings.Join(patterns, "\nDisallow: ") + "\n").Star()
}

// Matches reports whether a group of Group has a pattern for a target.
func Matches(g *robots.Group, target string) bool { return !g.Match(target).Allowed }

// IsFeed reports whether a target seems to be a feed.
func IsFeed(target string) bool {
	path, query, _ := strings.Cut(strings.ToLower(target), "?")
	path = strings.TrimRight(path, "/")
	last := path[strings.LastIndexByte(path, '/')+1:]
	switch strings.TrimSuffix(last, ".xml") {
	case "feed", "feeds", "rss", "atom", "index.rdf":
		return true
	}
	return strings.HasSuffix(last, ".rss") || strings.HasSuffix(last, ".atom") || HasParam(query, "feed", "rss", "atom")
}

// HasParam reports whether a query has one of several parameters.
func HasParam(query string, names ...string) bool {
	values, _ := url.ParseQuery(query)
	return slices.ContainsFunc(names, values.Has)
}
