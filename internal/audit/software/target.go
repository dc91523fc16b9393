package software

import (
	"net/url"
	"slices"
	"strings"
)

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
