package audit

import (
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/logformat"
	"github.com/caddy-robots/caddy-robots/internal/media"
)

// kindOf returns what a request with a browser's User-Agent is for: by Sec-Fetch-Dest, the
// Content-Type of its response, or else its name extension.
func kindOf(e *logformat.Entry) media.Kind {
	switch {
	case e.Dest == "document":
		return media.Page
	case e.Dest != "":
		return media.Embedded
	case judge.IsRobotsTxt(e.Target), strings.HasPrefix(e.Target, "/.well-known/"):
		return media.Other
	}
	if kind := media.Of(e.ContentType()); kind != media.Unknown && (e.Status == 0 || e.Status/100 == 2) {
		return kind
	}
	return media.OfTarget(e.Target)
}
