// Package findings provides the linter of robots.txt files with data that it does
// not have itself: the crawlers of the registry, and the X-Robots-Tag headers that a
// site sends.
package findings
