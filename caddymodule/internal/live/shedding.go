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
		state, refused, order := h.Load().State(now.UnixNano()), []string{}, h.Settings.Shed.Order()
		for _, step := range state.Refused {
			refused = append(refused, order.Steps[step])
		}
		list = append(list, statusapi.Shedding{
			Sites: h.sitesIn(scope), Since: timeOf(state.Since), InFlight: state.InFlight, Refused: refused,
			Robots: state.Robots, Requests: state.All, Few: state.Few, Monitored: h.mode() == statusapi.Monitor,
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
		if a.message = a.subject + " is busy"; s.InFlight > 0 {
			a.message += fmt.Sprintf(", with %s that wait for an answer", quantity(s.InFlight, "request"))
		}
		a.advice = "`caddy robots status` shows which robots come most. A Crawl-delay slows them down, and a `deny` in " +
			"`policy` stops them, if they name themselves."
		switch {
		case s.Few:
			a.advice = "Let browsers solve a challenge while the matcher `robots busy` matches."
			a.message = fmt.Sprintf("%s is busy: %d of %s of the last 10 seconds are browsers'. Refusing robots would not help",
				a.subject, s.Requests-s.Robots, quantity(s.Requests, "request"))
		case len(s.Refused) > 0:
			verb := "are"
			if s.Monitored {
				verb = "would be"
			}
			a.message += fmt.Sprintf("; these robots %s refused: %s", verb, strings.Join(s.Refused, ", "))
		}
		list = append(list, a)
	}
	return list
}
