package enforce

import (
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/managed"
	"github.com/caddy-robots/caddy-robots/robots"
)

// hidden are the paths that are denied to every crawler and published nowhere.
// What they are is in no decision, log or page: only the line of the
// configuration is.
type hidden struct {
	paths []managed.Hidden
	group *robots.Group // disallows them, one a line
}

func newHidden(paths []managed.Hidden) *hidden {
	if len(paths) == 0 {
		return nil
	}
	var file strings.Builder
	file.WriteString("User-agent: *\n")
	for _, h := range paths {
		file.WriteString("Disallow: " + h.Path + "\n")
	}
	return &hidden{paths, robots.Parse([]byte(file.String())).Star()}
}

// match returns the hidden path that a request target is below, nil if it is
// below none.
func (h *hidden) match(v *robots.Views) *managed.Hidden {
	if h == nil {
		return nil
	}
	verdict := h.group.MatchViews(v)
	if verdict.Allowed {
		return nil
	}
	return &h.paths[verdict.Line()-2]
}

// hides reports whether hidden paths are denied to an agent: to every crawler,
// and to those that the group for all binds only if the operator wants that.
func (r *compiledRules) hides(a *crawler.Agent, ask *Ask) bool {
	switch a.Class {
	case crawler.Person, crawler.Webhook:
		return false
	case crawler.Library:
		return r.HTTPClients
	case crawler.Program:
		return r.Programs != ProgramsOff && r.starBinds(a, ask)
	case crawler.UserTriggered:
		return (r.Strict || !r.IgnoreUserTriggered) && r.starBinds(a, ask)
	}
	return true
}

// HiddenPath returns the path, in robots.txt syntax, that made a decision of
// reason Hidden. It is for the operator alone, never for an answer, a log or a
// page.
func (p *Policy) HiddenPath(d *Decision) string {
	if d.Reason != Hidden || d.hidden == nil {
		return ""
	}
	return d.hidden.Path
}
