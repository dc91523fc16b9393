package response

import (
	"net/http"
	"sync"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/robots"
)

// robotsTxtFields are the fields of one response that come from robots.txt: from
// Noindex, Content-Signal, Content-Usage and License lines.
type robotsTxtFields struct {
	noindex headers.Tag // of a Noindex line; empty without one
	signals *headers.Signals
	varies  bool // other crawlers get other fields
}

// noindex is the content of a Noindex line.
var noindex = headers.ReadDirectives("noindex")

// viewsPool holds buffers for the paths that Noindex lines are compared with.
var viewsPool = sync.Pool{New: func() any { return new(robots.Views) }}

// robotsTxtFields returns the fields from robots.txt for a target and a client.
// A crawler with a group of its own gets those of that group. All other clients,
// also people, get those of the group for `*`, because a cache may pass their
// responses on to crawlers. It allocates nothing.
func (f *Fields) robotsTxtFields(target string, d *judge.Decision) (t robotsTxtFields) {
	if d.Rules == nil || !f.Noindex && !f.Signals {
		return t
	}
	star := d.Rules.File().Star()
	group := d.Group
	if group == nil || d.Reason == judge.Person {
		group = star
	}
	if f.Signals {
		t.signals = d.Rules.Signals(group)
		t.varies = d.Rules.SignalsVary()
	}
	if !f.Noindex {
		return t
	}
	views := viewsPool.Get().(*robots.Views)
	defer viewsPool.Put(views)
	views.Reset(target, f.Views)
	t.varies = t.varies || d.Rules.NoindexVaries(views)
	if group.NoindexViews(views).Line == 0 {
		return t
	}
	tag := headers.Tag{Directives: noindex}
	if group != star {
		// The tag names the crawler, so that it has no effect on others that get
		// a cached copy. Not every token is valid in a header.
		tag.Crawler = namedBy(group, d)
		if tag.Crawler == "" || tag.Validate() != nil {
			return t
		}
	}
	t.noindex = tag
	return t
}

// namedBy returns the token of the group that names the decision's crawler. (A
// group may name several crawlers.) It returns "" if no token does.
func namedBy(group *robots.Group, d *judge.Decision) string {
	file := d.Rules.File()
	if row := d.Agent.Crawler; row != nil {
		for _, token := range row.Robots {
			if file.Named(token) == group {
				return token
			}
		}
	}
	if token := d.Agent.Token; file.Named(token) == group {
		return token
	}
	return ""
}

// apply adds the fields to the header of a response with status.
func (t *robotsTxtFields) apply(header http.Header, target string, status int) {
	if t.varies {
		headers.AddVary(header, "User-Agent")
	}
	if !t.noindex.Directives.Empty() {
		headers.AddTags(header, []headers.Tag{t.noindex})
	}
	t.signals.Apply(header, target, status)
}
