// Package target says what the targets of requests are: path and query.
//
//	g := target.Group("/search", "/*/blame/")
//	fmt.Println(target.Matches(g, "/app/blame/x.go")) // true
package target

import (
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
	for pair := range strings.SplitSeq(query, "&") {
		switch name, _, _ := strings.Cut(pair, "="); name {
		case "feed", "rss", "atom":
			return true
		}
	}
	return strings.HasSuffix(last, ".rss") || strings.HasSuffix(last, ".atom")
}
