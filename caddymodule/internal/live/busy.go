package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/shed"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// handledAdvice is the advice about what is handled.
const handledAdvice = "Nothing to do."

// slowDown is the advice about a robot that sends too many requests.
const slowDown = "A `limit` slows it down, and a `deny` in `policy` stops it, if it names itself."

// sentence tells of requests a minute, the most of a minute some minutes ago. If nearly all
// were refused, it says so first.
func sentence(load *counters.Load, who string, most, minutes int) (text string, handled bool) {
	verb, suffix := " send", "s "
	if load.Crawler == "" {
		suffix = " "
	}
	if how := load.Handled(minutes); how != "" {
		who, verb, suffix, handled = "Handled: "+who, " get", suffix+how+": ", true
	} else if minutes > 1 {
		verb, suffix = " sent", " up to "
	}
	return fmt.Sprintf("%s%s%s%s a minute to %s", who, verb, suffix, quantity(most, "request"), siteName(load.Site)), handled
}

// flooded completes the accident of a flood whose latest minute was some minutes ago. If
// neither this minute nor the one before it is one, the flood is over, and told with its
// peak.
func flooded(a Accident, load *counters.Load, minutes int, now time.Time) Accident {
	a.Before, a.subject, a.sites, a.advice = int(a.usual), siteName(load.Site), []string{load.Site}, slowDown
	until := ""
	if minutes > 1 {
		a.Now = a.peak
		until = ", until " + formatTime(now.Truncate(time.Minute).Add(time.Duration(1-minutes)*time.Minute), now)
	}
	a.message, a.handled = sentence(load, cmp.Or(load.Crawler, "all robots together"), a.Now, minutes)
	if a.message += fmt.Sprintf("%s; %.1f are usual", until, a.usual); a.handled {
		a.advice = handledAdvice
	}
	return a
}

// loadAccidents returns the floods. All robots together are one only where no single
// robot is, and all hosts of a pattern only where no single host has one.
func loadAccidents(loads []*counters.Load, open map[accidentKey]*Accident, now time.Time) (list []Accident) {
	for _, load := range loads {
		flood := Accident{Kind: Flood, Site: load.Site, pattern: load.Pattern, Crawler: cmp.Or(load.Label, everybody), Since: now,
			usual: load.Usual, folder: load.Folder}
		if was := open[flood.key()]; was != nil && was.Crawler == flood.Crawler && now.Sub(was.Since) < usualFor {
			flood.Since, flood.usual, flood.peak = was.Since, was.usual, was.peak // the flood does not become usual
		}
		most, minutes := load.Most(flood.usual)
		if flood.Now, flood.peak = most, max(flood.peak, most); most > 0 && load.Hours >= usualHours {
			list = append(list, flooded(flood, load, minutes, now))
		}
	}
	return slices.DeleteFunc(list, func(x Accident) bool {
		return slices.ContainsFunc(list, func(y Accident) bool {
			return x.Site == y.pattern || x.Crawler == everybody && x.Site == y.Site && y.Crawler != everybody
		})
	})
}

// shedding returns the state of shed in the handlers that serve a site in a scope.
func (r *Reporter) shedding(scope statusapi.Scope, now time.Time) []statusapi.Shedding {
	list := []statusapi.Shedding{}
	for _, h := range r.handlersIn(scope) {
		if h.Load == nil {
			continue
		}
		state, refused := h.Load().State(now.UnixNano()), []string{}
		for _, step := range state.Refused {
			refused = append(refused, shed.Steps[step])
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
		a.advice = "A Crawl-delay slows down the robots that come most, and a `deny` in `policy` stops them, if they name themselves."
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

// busyProblems returns the crawlers that would be a flood if their usual rate were
// known and low, as they were at the last look for accidents.
func (r *Reporter) busyProblems(scope statusapi.Scope) (problems []statusapi.Problem) {
	a := r.app.Counters.Accidents
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, load := range a.loads {
		most, minutes := load.Most(0)
		if most == 0 || load.Hours >= usualHours || load.Crawler == "" || !scope.Host(load.Pattern, load.Site) {
			continue
		}
		message, handled := sentence(load, load.Crawler, most, minutes)
		p := warning("busy", siteName(load.Site), message+"; its usual rate is not known before six hours", slowDown)
		if handled {
			p.Severity, p.Advice = statusapi.Remark, handledAdvice
		}
		p.Crawler, p.Sites, p.Folder = load.Label, []string{load.Site}, load.Folder
		problems = append(problems, p)
	}
	return problems
}
