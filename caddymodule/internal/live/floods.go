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
	return fmt.Sprintf("%s%s%s a minute to %s", who, verb, quantity(most, "request"), statusapi.SiteName(load.Site)), how != ""
}

// flooded completes the problem of a flood whose latest minute was some minutes ago. If
// neither this minute nor the one before it is one, the flood is over, and told with its
// peak.
func flooded(p statusapi.Problem, load *counters.Load, minutes int, now time.Time) statusapi.Problem {
	p.Before, p.Subject, p.Advice = int(p.Usual), statusapi.SiteName(load.Site), slowDown
	tail := "; how many are usual is not known before six hours"
	if p.Usual > 0 {
		tail = fmt.Sprintf("; %.1f are usual", p.Usual)
	}
	if minutes > 1 {
		until := now.Truncate(time.Minute).Add(time.Duration(1-minutes) * time.Minute)
		p.Now, p.Until = p.Peak, timeOf(until)
		tail = ", until " + words.Time(until, now) + tail
	}
	many := load.Crawler == ""
	who, label := load.Crawler, load.Label
	if many {
		who, label = "all robots together", "all robots together"
	} else if _, err := crawler.ParseClass(label); err == nil {
		label = "a crawler of the class " + label
	}
	if would := load.WouldHold(minutes); would != "" && load.Handled(minutes) == "" {
		tail += "; enforcing would refuse " + would
		p.Advice = "Take `mode monitor` out of the block `robots`, or set the mode enforce."
		p.Actions = []statusapi.Action{{What: "Enforce the rules until Caddy loads its configuration again", Text: "mode?mode=enforce",
			Where: statusapi.Command}}
	}
	message, handled := sentence(load, who, many, p.Now, minutes)
	plain, _ := sentence(load, label, many, p.Now, minutes)
	p.Message, p.Plain = message+tail, plain+tail
	if handled {
		p.Severity, p.Advice = statusapi.Remark, handledAdvice
	}
	return p
}

// From how many requests in a minute on there is a flood while it is not known what is
// usual: of one crawler, which is five in a second where one is what most crawlers promise
// at most, and of all together.
const (
	unknownLeast    = 300
	unknownLeastAll = 1000
)

// floods returns the floods, and the crawlers that would be one if their usual rate were known
// and low. All robots together are one only where no single robot is, and all hosts of a pattern
// only where no single host has one.
func floods(loads []*counters.Load, open map[accidentKey]*statusapi.Problem, now time.Time) (list []statusapi.Problem) {
	for _, load := range loads {
		p := statusapi.Problem{
			Severity: statusapi.Severe, Kind: Flood, Crawler: cmp.Or(load.Label, everybody), Since: timeOf(now), Folder: load.Folder,
			Sites: []string{load.Site}, Pattern: load.Pattern,
		}
		if load.Hours >= usualHours {
			p.Usual = load.Usual
		} else if load.Crawler != "" && !load.Bound {
			continue // for an API any rate may be usual
		}
		if was := open[keyOf(&p)]; was != nil && was.Crawler == p.Crawler && now.Sub(*was.Since) < usualFor {
			p.Since, p.Usual, p.Peak = was.Since, was.Usual, was.Peak // the flood does not become usual
		}
		least := uint64(counters.FloodLeast)
		if p.Usual == 0 {
			least = unknownLeast
			if load.Crawler == "" {
				least = unknownLeastAll
			}
		}
		most, minutes := load.Most(least, p.Usual)
		if most == 0 && p.Usual == 0 && load.Crawler != "" {
			most, minutes = load.Most(counters.FloodLeast, 0)
			p.Severity, p.Kind, p.Since = statusapi.Warning, "busy", nil
		}
		p.Now, p.Peak = most, max(p.Peak, most)
		if most > 0 {
			list = append(list, flooded(p, load, minutes, now))
		}
	}
	return slices.DeleteFunc(list, func(x statusapi.Problem) bool {
		return slices.ContainsFunc(list, func(y statusapi.Problem) bool {
			return x.Kind == y.Kind && (x.Sites[0] == y.Pattern || x.Crawler == everybody && x.Sites[0] == y.Sites[0] && y.Crawler != everybody)
		})
	})
}

// sections returns what the steps of the handlers in a scope show. Sections with the same
// title are one.
func (r *Reporter) sections(scope statusapi.Scope) []statusapi.Section {
	list := []statusapi.Section{}
	for _, h := range r.handlersIn(scope) {
		sites := words.List(words.Map(h.sitesIn(scope), statusapi.SiteName), 3)
		for _, step := range h.Views {
			s := step.View(h.mode() == statusapi.Monitor)
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
