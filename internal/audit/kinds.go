package audit

import (
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/media"
)

// Kind returns what a request with a browser's User-Agent is for, as far as the log says: by
// Sec-Fetch-Dest, the Content-Type of its response, or else its name extension.
func (v *Judged) Kind() media.Kind {
	switch e := v.Entry; {
	case e.Dest == "document":
		return media.Page
	case e.Dest != "":
		return media.Embedded
	case judge.IsRobotsTxt(e.Target), strings.HasPrefix(e.Target, "/.well-known/"):
		return media.Other
	}
	kind, status := media.Of(v.Entry.ContentType()), v.Entry.Status
	if kind != media.Unknown && (status == 0 || status/100 == 2) {
		return kind
	}
	return media.OfTarget(v.Target)
}
