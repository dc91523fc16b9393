package caddymodule

import (
	"sync"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/robots"
)

// spoken is what robots.txt says of one response that goes out with it.
type spoken struct {
	noindex headers.Tag // of a Noindex line; empty without one
	signals *headers.Signals
}

// noindex is what a Noindex line says.
var noindex = headers.ReadDirectives("noindex")

// viewsPool holds the paths that Noindex lines are compared with.
var viewsPool = sync.Pool{New: func() any { return new(robots.Views) }}

// spoken returns what the robots.txt says of a target to whoever asks for it:
// a crawler's own group to that crawler, and the group for all to everybody
// else, people with it, for what they get may be stored and handed on. It
// allocates nothing.
func (h *Handler) spoken(target string, d *enforce.Decision) (s spoken) {
	if d.Policy == nil || !isOn(h.NoindexLines) && !isOn(h.Signals) {
		return s
	}
	group := d.Group
	if d.Reason == enforce.Person {
		group = d.Policy.File().Star()
	}
	if isOn(h.NoindexLines) && len(group.NoindexRules()) > 0 {
		s.noindex = noindexOf(group, target)
	}
	s.signals = d.Policy.Signals(group)
	return s
}

// noindexOf is what the group's Noindex lines say of a target. A crawler's own
// group is quoted with the crawler's name, so that a stored copy says nothing
// to others.
func noindexOf(group *robots.Group, target string) (tag headers.Tag) {
	views := viewsPool.Get().(*robots.Views)
	defer viewsPool.Put(views)
	views.Reset(target, robots.ViewOptions{})
	if group.NoindexViews(views) == nil {
		return tag
	}
	tag.Directives = noindex
	if token := group.Token(); token != "*" {
		tag.Crawler = token
	}
	return tag
}

// empty reports whether there is nothing to say.
func (s *spoken) empty() bool { return s.noindex.Directives.Empty() && s.signals.Empty() }
