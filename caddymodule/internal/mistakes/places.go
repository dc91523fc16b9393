package mistakes

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// WithoutHandler returns the problem that the configuration has no handler.
func WithoutHandler() statusapi.Problem {
	p := place(nil, "%s", "write `robots` into the blocks of your sites")
	p.Message = "no site has the line `robots`: no robots.txt is read, and nothing is refused"
	return p
}

// Late returns the problem of a handler whose requests have all met another robots handler
// before.
func Late(hosts []string) statusapi.Problem {
	return place(hosts, "%s has never decided: another one decides before it on all of its requests", MeetingAdvice)
}

// Unreached returns the problem of a handler that no request reaches.
func Unreached(hosts []string) statusapi.Problem {
	return place(hosts, "no request reaches %s, because handlers before it answer all of them",
		"move it up, into a block `route` if need be, or remove it")
}

// Missed returns the problem of a handler that decides on what a proxy asks, by a step, and that
// clients can miss.
func Missed(step string, hosts []string) statusapi.Problem {
	p := place(hosts, "clients can miss "+step+" of %s, with another Host or what another matcher does not match: "+
		"they get 200, so that the proxy lets them in",
		"write the site without a host name and other matchers, such as http://:9000, or add such a site with `respond 403`")
	p.Kind, p.Severity = step, statusapi.Severe
	return p
}

// MeetingAdvice says what to write instead of two handlers that meet.
const MeetingAdvice = "write one robots block for both: `limit` and `exempt_paths` take paths. Or give one of them a matcher that " +
	"excludes the requests of the other, such as `not path /api/*`"

// place returns the problem of the place of a handler of hosts; none for any host. format has the
// place of the handler.
func place(hosts []string, format, advice string) statusapi.Problem {
	subject := cmp.Or(strings.Join(hosts, ", "), statusapi.SiteName(statusapi.AnySite))
	return statusapi.Problem{Severity: statusapi.Warning, Kind: statusapi.NoRules, Subject: subject, Sites: hosts,
		Message: fmt.Sprintf(format, "the robots handler of "+subject), Advice: "In the Caddyfile, " + advice + "."}
}
