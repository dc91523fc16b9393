package live

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/challenge"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// WatchedShare says of which part of the addresses the storms of Handler.Watch are: one in
// so many.
const WatchedShare = 20

// strangerAccidents returns the storms of strangers.
func (r *Reporter) strangerAccidents(now time.Time) (list []Accident) {
	for _, h := range r.handlers() {
		for storm := range h.storms {
			state, a := storm.State(now), h.stormAt(storm.Host)
			switch {
			case !state.On:
				continue
			case h.Check == nil || h.Settings.Challenge == nil:
				n := state.Lone * WatchedShare
				a.Now = n
				a.message = fmt.Sprintf("about %s in a minute asked %s for a page that robots.txt disallows, and for nothing else",
					quantity(n, "address"), a.subject)
				a.advice = "Write `challenge disallowed` into the block `robots` of " + a.subject +
					": browsers then show once that they are browsers, without a click, and others get no page."
			default:
				if h.Check.IsOff(storm.Host) {
					a.Now = state.Lone
					a.message = fmt.Sprintf("strangers storm pages of `%s` at %s, and challenge is switched off", h.Check.Name, a.subject)
					a.advice = "`POST /robots/challenge?set=configured` switches it on."
					break
				}
				a.Before, a.Now, a.handled = state.Passed, state.Asked, true
				a.message = fmt.Sprintf("Handled: %d of %s who asked %s for pages of `%s` since %s did not pass the check",
					max(0, state.Asked-state.Passed), quantity(state.Asked, "stranger"), a.subject, h.Check.Name, formatTime(state.Since, now))
				if h.mode() == statusapi.Monitor {
					a.message = fmt.Sprintf("%s who asked %s for pages of `%s` since %s would have been checked", quantity(state.Asked, "stranger"),
						a.subject, h.Check.Name, formatTime(state.Since, now))
				}
				a.advice = handledAdvice
			}
			a.Since = state.Since
			list = append(list, a)
		}
	}
	return list
}

// storms yields the storms at sites of the handler, on the paths of its check, or on those that
// are watched.
func (h *Handler) storms(yield func(*challenge.Storm) bool) {
	check := h.Watch
	if h.Check != nil && h.Settings.Challenge != nil {
		check = h.Check
	}
	if check == nil {
		return
	}
	for s := range check.Storms {
		if (h.Server == nil || slices.Contains(h.Hosts, h.SiteOf(s.Host))) && !yield(s) {
			return
		}
	}
}

// stormAt returns an accident at a host, or at the pattern of a site.
func (h *Handler) stormAt(host string) Accident {
	site, name := h.SiteOf(host), cmp.Or(host, statusapi.AnySite)
	a := Accident{Kind: Strangers, Site: name, Crawler: everybody, subject: siteName(name), sites: []string{site}}
	if routes.IsPattern(site) {
		a.pattern = site
	}
	return a
}

// challengeProblems returns the checks that can't know who is lonely, and those that look as
// if they did not work.
func (r *Reporter) challengeProblems(scope statusapi.Scope) (problems []statusapi.Problem) {
	now := r.app.Now()
	for _, h := range r.handlersIn(scope) {
		if h.Settings.Challenge == nil || h.Check == nil {
			continue
		}
		for storm := range h.storms {
			state, name := storm.State(now), siteName(storm.Host)
			if !scope.Host(h.SiteOf(storm.Host), storm.Host) {
				continue
			}
			if state.Blind {
				problems = append(problems, warning("challenge_blind", name, "fewer than half of the visitors of "+name+
					" fetch images, styles and scripts from it, so `over` of challenge counts the pages of all clients without a pass",
					"If many people read these pages, set `over` higher than what they request."))
			}
			if t := state.Trouble; t.Text != "" {
				problems = append(problems, warning("challenge_broken", name, fmt.Sprintf("at %s, since %s: %s", name, formatTime(t.Since, now), t.Text),
					t.Advice))
			}
		}
	}
	return problems
}

// SetChallenge implements statusapi.Reporter.
func (r *Reporter) SetChallenge(_ context.Context, scope statusapi.Scope, query statusapi.ChallengeQuery) (*statusapi.Challenge, error) {
	if query.Set == "" {
		return nil, badRequest("set is missing: want off or configured")
	}
	answer := &statusapi.Challenge{Set: query.Set, Sites: []string{}}
	for _, h := range r.handlers() {
		if h.Settings.Challenge == nil || h.Check == nil {
			continue
		}
		hosts := h.sitesIn(scope)
		if scope.All() || len(hosts) == len(h.Hosts) {
			h.Check.Set("", query.Set == statusapi.Configured)
		} else {
			for _, name := range scope.Hosts() {
				if h.ownsHost(name) && !slices.Contains(hosts, name) {
					hosts = append(hosts, name)
				}
			}
			for _, host := range hosts {
				h.Check.Set(host, query.Set == statusapi.Configured)
			}
		}
		answer.Sites = append(answer.Sites, hosts...)
	}
	if len(answer.Sites) == 0 {
		return nil, statusapi.Errorf(http.StatusNotFound, "no handler with challenge serves these sites")
	}
	slices.Sort(answer.Sites)
	answer.Sites = slices.Compact(answer.Sites)
	r.app.Log.Warn("challenge was set until the next load of the configuration", zap.String("set", query.Set), zap.Strings("sites", answer.Sites))
	return answer, nil
}
