package headersimport

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/headers"
)

// nginxConverter converts the lines of a server to rules.
type nginxConverter struct {
	site   *Site
	server *nginxLevel
	index  indexNames
	levels []*nginxLevel
}

func (c *nginxConverter) convert() {
	c.server.all(func(l *nginxLevel) bool {
		c.levels = append(c.levels, l)
		l.sent, l.uncertain = l.sends()
		return true
	})
	declaring := c.levels
	if c.server.outer != nil {
		declaring = append([]*nginxLevel{c.server.outer}, declaring...)
	}
	for _, l := range declaring {
		for _, t := range slices.Concat(l.tags, l.more) {
			if len(t.tags) > 0 && !t.uncertain {
				c.site.convert(statement{t.line, l.scope, t.tags, c.exceptions(l, t.tags)}, c.index)
			}
		}
	}
	for _, l := range c.levels {
		c.reportRedirects(l)
	}
}

// exceptions returns the parts of the scope of level d in which nginx does not
// send tags, which d sets.
func (c *nginxConverter) exceptions(d *nginxLevel, tags []headers.Tag) (all []exception) {
	if d == c.server.outer {
		d = c.server
	}
	for _, m := range c.levels {
		if m != d && !m.reaches(d) {
			continue
		}
		if !headers.Imply(m.sent, tags) {
			all = append(all, exception{scope: m.scope, partial: m.uncertain || m.kind != "location" && m != d, contested: c.contested(m, tags), what: m.String()})
		} else if to := c.targetWithout(m, tags); to != nil {
			all = append(all, exception{scope: m.scope, partial: true, what: to.String()})
		}
	}
	return all
}

// contested reports whether, for a part of the scope of m, nginx may choose
// another level that sends the tags.
func (c *nginxConverter) contested(m *nginxLevel, tags []headers.Tag) bool {
	return slices.ContainsFunc(c.levels, func(l *nginxLevel) bool {
		return l != m && l.reaches(m) && headers.Imply(l.sent, tags)
	})
}

// allRedirects returns the redirects that apply on a level: its own and those
// that it inherits.
func (l *nginxLevel) allRedirects() []nginxRedirect {
	all := l.redirects
	for outer := l.outer; outer != nil; outer = outer.outer {
		for _, r := range outer.redirects {
			if r.name == "error_page" && l.errorPage {
				continue
			}
			all = append(all[:len(all):len(all)], r)
		}
	}
	return all
}

// redirectTargets calls yield with each level that may answer requests which
// level l redirects, directly or through other levels, and with the first of
// these redirects. It stops if yield returns false.
func (c *nginxConverter) redirectTargets(l *nginxLevel, yield func(nginxRedirect, *nginxLevel) bool) {
	seen := map[*nginxLevel]bool{}
	var follow func(l *nginxLevel, by *nginxRedirect) bool
	follow = func(l *nginxLevel, by *nginxRedirect) bool {
		for _, r := range c.redirects(l) {
			first := by
			if first == nil {
				first = &r
			}
			to := c.levels
			if target := l.target(r); target != nil {
				to = target.conditions(nil)
			}
			for _, t := range to {
				if seen[t] {
					continue
				}
				seen[t] = true
				if !yield(*first, t) || !follow(t, first) {
					return false
				}
			}
		}
		return true
	}
	follow(l, nil)
}

// redirects returns the redirects that apply on a level, including those from a
// folder to its index file.
func (c *nginxConverter) redirects(l *nginxLevel) []nginxRedirect {
	all := l.allRedirects()
	if l.modifier == "=" && !l.answers {
		all = append(all[:len(all):len(all)], nginxRedirect{l.line, "index", l.uri})
	}
	for _, r := range all {
		if !strings.HasSuffix(r.to, "/") {
			continue
		}
		for _, name := range c.index { // nginx chooses a location for the index file again
			all = append(all[:len(all):len(all)], nginxRedirect{r.line, r.name, r.to + name})
		}
	}
	return all
}

// targetWithout returns a level that may answer requests of level m and does
// not send tags, nil if there is none.
func (c *nginxConverter) targetWithout(m *nginxLevel, tags []headers.Tag) (found *nginxLevel) {
	c.redirectTargets(m, func(_ nginxRedirect, to *nginxLevel) bool {
		if !headers.Imply(to.sent, tags) {
			found = to
		}
		return found == nil
	})
	return found
}

// reportRedirects reports the first redirect from level m to a level that sends
// more tags than m. The rules have patterns for the original request, so they
// do not add these tags.
func (c *nginxConverter) reportRedirects(m *nginxLevel) {
	c.redirectTargets(m, func(r nginxRedirect, to *nginxLevel) bool {
		if to == m || headers.Imply(m.sent, to.sent) {
			return true
		}
		c.site.problem(r.line, "not converted: %s redirects requests, and %s then sends other directives", r.name, fmt.Sprint(to))
		return false
	})
}
