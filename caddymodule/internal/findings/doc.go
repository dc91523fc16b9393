// Package findings adds to the linter of package robots what it cannot know:
// the crawlers of the registry, and the headers that a site sends.
package findings
