package live

import (
	"fmt"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// shedding returns the state of shed in the handlers that serve a site in a scope.
func (r *Reporter) shedding(scope statusapi.Scope, now time.Time) []statusapi.Shedding {
	list := []statusapi.Shedding{}
	for _, h := range r.handlersIn(scope) {
		if h.Load == nil {
			continue
		}
		state := h.Load().State(now.UnixNano())
		list = append(list, statusapi.Shedding{
			Sites: h.sitesIn(scope), Since: timeOf(state.Since), InFlight: state.InFlight,
			Refused: append([]string{}, h.Settings.Shed.Order().Steps[:state.Level]...),
		})
	}
	return list
}

// sheddingAccidents returns the handlers that refuse robots because the server is
// busy.
func (r *Reporter) sheddingAccidents(now time.Time) (list []Accident) {
	for _, s := range r.shedding(statusapi.AllSites(), now) {
		if s.Since == nil {
			continue
		}
		a := Accident{Kind: Shedding, Site: s.Sites[0], Crawler: everybody, Since: *s.Since, Now: s.InFlight, subject: siteName(s.Sites[0]),
			sites: s.Sites}
		a.message = fmt.Sprintf("%s is busy, with %s that wait for an answer", a.subject, quantity(s.InFlight, "request"))
		if len(s.Refused) > 0 {
			a.message += "; these robots are refused: " + strings.Join(s.Refused, ", ")
		}
		a.advice = "`caddy robots status` shows which robots come most. A Crawl-delay slows them down, and a `deny` in " +
			"`policy` stops them, if they name themselves."
		list = append(list, a)
	}
	return list
}
