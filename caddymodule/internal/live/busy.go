package live

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// handledAdvice is the advice about what is handled.
const handledAdvice = "Nothing to do."

// slowDown is the advice about a robot that sends too many requests.
const slowDown = "A `limit` slows it down, and a `deny` in `policy` stops it, if it names itself."

// sentence tells of requests a minute, the most of a minute some minutes ago. If nearly all
// were refused, it says so first. many says that who is several.
func sentence(load *counters.Load, who string, many bool, most, minutes int) (text string, handled bool) {
	verb := " sends "
	how := load.Handled(minutes)
	switch {
	case how != "" && minutes > 1:
		who, verb = "Handled: "+who, " got "+how+": "
	case how != "" && many:
		who, verb = "Handled: "+who, " get "+how+": "
	case how != "":
		who, verb = "Handled: "+who, " gets "+how+": "
	case minutes > 1:
		verb = " sent up to "
	case many:
		verb = " send "
	}
	return fmt.Sprintf("%s%s%s a minute to %s", who, verb, quantity(most, "request"), siteName(load.Site)), how != ""
}

// flooded completes the accident of a flood whose latest minute was some minutes ago. If
// neither this minute nor the one before it is one, the flood is over, and told with its
// peak.
func flooded(a Accident, load *counters.Load, minutes int, now time.Time) Accident {
	a.Severity, a.Before, a.Subject, a.sites, a.Advice = statusapi.Severe, int(a.Usual), siteName(load.Site), []string{load.Site}, slowDown
	tail := "; how many are usual is not known before six hours"
	if a.Usual > 0 {
		tail = fmt.Sprintf("; %.1f are usual", a.Usual)
	}
	if minutes > 1 {
		until := now.Truncate(time.Minute).Add(time.Duration(1-minutes) * time.Minute)
		a.Now, a.Until = a.peak, timeOf(until)
		tail = ", until " + formatTime(until, now) + tail
	}
	many := load.Crawler == ""
	who, label := load.Crawler, load.Label
	if many {
		who, label = "all robots together", "all robots together"
	} else if _, err := crawler.ParseClass(label); err == nil {
		label = "a crawler of the class " + label
	}
	message, handled := sentence(load, who, many, a.Now, minutes)
	a.plain, _ = sentence(load, label, many, a.Now, minutes)
	a.Message, a.plain = message+tail, a.plain+tail
	if handled {
		a.Severity, a.Advice = statusapi.Remark, handledAdvice
	}
	return a
}

// From how many requests in a minute on there is a flood while it is not known what is
// usual: of one crawler, which is five in a second where one is what most crawlers promise
// at most, and of all together.
const (
	unknownLeast    = 300
	unknownLeastAll = 1000
)

// loadAccidents returns the floods. All robots together are one only where no single
// robot is, and all hosts of a pattern only where no single host has one.
func loadAccidents(loads []*counters.Load, open map[accidentKey]*Accident, now time.Time) (list []Accident) {
	for _, load := range loads {
		flood := Accident{Site: load.Site, pattern: load.Pattern, Problem: statusapi.Problem{
			Kind: Flood, Crawler: cmp.Or(load.Label, everybody), Since: timeOf(now), Folder: load.Folder,
		}}
		if load.Hours >= usualHours {
			flood.Usual = load.Usual
		}
		if was := open[flood.key()]; was != nil && was.Crawler == flood.Crawler && now.Sub(*was.Since) < usualFor {
			flood.Since, flood.Usual, flood.peak = was.Since, was.Usual, was.peak // the flood does not become usual
		}
		least := uint64(counters.FloodLeast)
		if flood.Usual == 0 {
			least = unknownLeast
			if load.Crawler == "" {
				least = unknownLeastAll
			}
		}
		most, minutes := load.Most(least, flood.Usual)
		flood.Now, flood.peak = most, max(flood.peak, most)
		if most > 0 {
			list = append(list, flooded(flood, load, minutes, now))
		}
	}
	return slices.DeleteFunc(list, func(x Accident) bool {
		return slices.ContainsFunc(list, func(y Accident) bool {
			return x.Site == y.pattern || x.Crawler == everybody && x.Site == y.Site && y.Crawler != everybody
		})
	})
}

// sections returns what the features of the handlers in a scope show. Sections with the
// same title are one.
func (r *Reporter) sections(scope statusapi.Scope) []statusapi.Section {
	list := []statusapi.Section{}
	for _, h := range r.handlersIn(scope) {
		sites := words.List(words.Map(h.sitesIn(scope), siteName), 3)
		for _, feature := range h.Features {
			s := feature.View(h.mode() == statusapi.Monitor)
			if s.Title == "" {
				continue
			}
			at := slices.IndexFunc(list, func(other statusapi.Section) bool { return other.Title == s.Title })
			if at < 0 {
				at = len(list)
				list = append(list, statusapi.Section{Title: s.Title, Note: s.Note, Rows: [][]string{},
					Columns: slices.Insert(s.Columns, 0, statusapi.Column{Name: "sites"})})
			}
			for _, row := range s.Rows {
				list[at].Rows = append(list[at].Rows, slices.Insert(row, 0, sites))
			}
		}
	}
	return list
}

// featureAccidents returns the accidents that features of handlers know.
func (r *Reporter) featureAccidents() (list []Accident) {
	for _, h := range r.handlers() {
		for _, feature := range h.Features {
			for _, p := range feature.Accidents(h.mode() == statusapi.Monitor) {
				if p.Sites == nil {
					p.Sites, p.Message = h.Hosts, siteName(h.Hosts[0])+" "+p.Message
				}
				p.Severity, p.Subject = cmp.Or(p.Severity, statusapi.Severe), siteName(p.Sites[0])
				list = append(list, Accident{Problem: p, Site: p.Sites[0], sites: p.Sites})
			}
		}
	}
	return list
}

// busyProblems returns the crawlers that would be a flood if their usual rate were
// known and low, as they were at the last look for accidents, and are none yet.
func (r *Reporter) busyProblems(scope statusapi.Scope) (problems []statusapi.Problem) {
	a := r.app.Counters.Accidents
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, load := range a.loads {
		most, minutes := load.Most(counters.FloodLeast, 0)
		if most == 0 || most > unknownLeast || load.Hours >= usualHours || load.Crawler == "" || !scope.Host(load.Pattern, load.Site) {
			continue
		}
		message, handled := sentence(load, load.Crawler, false, most, minutes)
		p := warning("busy", siteName(load.Site), message+"; how many are usual is not known before six hours", slowDown)
		if handled {
			p.Severity, p.Advice = statusapi.Remark, handledAdvice
		}
		p.Crawler, p.Sites, p.Folder = load.Label, []string{load.Site}, load.Folder
		problems = append(problems, p)
	}
	return problems
}
