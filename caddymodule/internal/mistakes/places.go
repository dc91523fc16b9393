package mistakes

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// Place is that of a robots handler that decides nothing, or that clients can miss.
type Place struct {
	Hosts    []string // none for any host
	Name     string   // of the handler
	What     string   // is wrong with thisHandler
	Advice   string   // begins with a small letter
	Kind     string
	Severity string
}

const thisHandler = "this robots handler"

// Problems returns the problem for those of its hosts that a scope has, if it has any.
func (p *Place) Problems(scope statusapi.Scope) []statusapi.Problem {
	own := slices.DeleteFunc(slices.Clone(p.Hosts), func(host string) bool { return !scope.Site(host) })
	if !scope.All() && len(own) == 0 {
		return nil
	}
	subject := cmp.Or(strings.Join(own, ", "), "this server")
	return []statusapi.Problem{{Severity: p.Severity, Kind: p.Kind, Subject: subject,
		Message: strings.Replace(p.What, thisHandler, "the robots handler of "+subject, 1), Advice: "In the Caddyfile, " + p.Advice + "."}}
}

// WithoutHandler returns the place of no handler: the configuration has none.
func WithoutHandler() Place {
	return place(nil, "no site has the line `robots`: no robots.txt is read, and nothing is refused",
		"write `robots` into the blocks of your sites")
}

// Late returns the place of a handler whose requests have all met another robots handler
// before.
func Late(hosts []string) Place {
	return place(hosts, thisHandler+" has never decided: another one decides before it on all of its requests",
		MeetingAdvice)
}

// Unreached returns the place of a handler with a name that no request reaches.
func Unreached(hosts []string, name string) Place {
	p := place(hosts, "no request reaches "+thisHandler+", because handlers before it answer all of them",
		"move it up, into a block `route` if need be, or remove it")
	p.Name = name
	return p
}

// Missed returns the place of a handler with a name that decides on what a proxy asks, by a
// step, and that clients can miss.
func Missed(step string, hosts []string, name string) Place {
	return Place{Hosts: hosts, Name: name, Kind: step, Severity: statusapi.Severe,
		What: "clients can miss " + step + " of " + thisHandler + ", with another Host or what another matcher does not match: " +
			"they get 200, so that the proxy lets them in",
		Advice: "write the site without a host name and other matchers, such as http://:9000, or add such a site with `respond 403`"}
}

// MeetingAdvice says what to write instead of two handlers that meet.
const MeetingAdvice = "write one robots block for both: `limit` and `exempt_paths` take paths. Or give one of them a matcher that " +
	"excludes the requests of the other, such as `not path /api/*`"

func place(hosts []string, what, advice string) Place {
	return Place{Hosts: hosts, What: what, Advice: advice, Kind: statusapi.NoRules, Severity: statusapi.Warning}
}
