package audit

import (
	"github.com/caddy-robots/caddy-robots/enforce"

	"github.com/caddy-robots/caddy-robots/internal/logformat"
)

// isOwnFetch reports whether Caddy itself fetched robots.txt: this command, or a
// robots.txt source that is a URL. Other paths count whatever the User-Agent is, so
// that a client cannot hide its traffic with Caddy's User-Agent.
func isOwnFetch(e *logformat.Entry) bool {
	return len(e.UserAgents) == 1 && e.UserAgents[0] == enforce.FetcherUserAgent && enforce.IsRobotsTxt(e.Target)
}
