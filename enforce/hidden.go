package enforce

import (
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/robots"
)

// hidden are paths that are denied to every crawler and published nowhere. No
// log or page contains the paths, only their lines in the configuration.
type hidden struct {
	paths []managed.Hidden
	group *robots.Group // disallows the paths; the rule of paths[i] is on line i+2
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

// match returns the hidden path that matches a request target, or nil.
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

// hides reports whether hidden paths are denied to an agent. They are denied to
// every crawler, and to other clients if the site's operator applies the group
// for `*` to them.
func (c *client) hides(a *crawler.Agent) bool {
	settings := c.rules.settings
	switch a.Class {
	case crawler.Person, crawler.Webhook:
		return false
	case crawler.Library:
		return settings.HTTPClients
	case crawler.Program:
		return settings.Programs != ProgramsOff && c.starApplies(a)
	case crawler.UserTriggered:
		return (settings.Strict || !settings.IgnoreUserTriggered) && c.starApplies(a)
	}
	return true
}

// HiddenPath returns the hidden path, in robots.txt syntax, that caused a
// decision with reason Hidden; otherwise "". Show it only to the site's
// operator, and never in an answer, a log or a page.
func (p *Rules) HiddenPath(d *Decision) string {
	if d.Reason != Hidden || d.hidden == nil {
		return ""
	}
	return d.hidden.Path
}
