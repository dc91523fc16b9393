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

// slower returns the advice about a robot with a label that sends too many requests.
func slower(label string) string {
	if row := crawler.Builtin().Lookup(label); row != nil && row.CountsAs(crawler.Search) {
		return "With `verify`, who only claims to be it is refused. No `limit` holds search engines; a Crawl-delay in a group that names it does."
	}
	return "A `limit` slows it down, and a `deny` in `policy` stops it, if it names itself."
}

// named returns a label for a sentence.
func named(label string) string {
	if _, err := crawler.ParseClass(label); err == nil {
		return "a crawler of the class " + label
	}
	return label
}

// overAfter is how much of a minute shows that a flood of the minute before is over.
const overAfter = 20 * time.Second

// isOver reports whether a flood whose latest minute was some minutes ago is over: this minute goes on
// at less than half of least.
func isOver(load *counters.Load, minutes int, least uint64, now time.Time) bool {
	passed := now.Sub(now.Truncate(time.Minute))
	return minutes > 1 || minutes == 1 && passed >= overAfter && 2*float64(load.Robots[0]) < float64(least)*passed.Minutes()
}

// share returns a share for a sentence.
func share(percent int) string {
	if percent == 100 {
		return "all"
	}
	return fmt.Sprintf("%d %%", percent)
}

// sentence tells of requests a minute, of the most in one if the flood is over. If nearly all were
// refused, as percent says, it says so first. many says that who is several.
func sentence(p *statusapi.Problem, who string, percent int, many bool) string {
	verb, are, up := "sends", "are", ""
	switch {
	case p.Until != nil:
		verb, are, up = "sent up to", "were", "up to "
	case many:
		verb = "send"
	}
	if percent > 0 {
		return fmt.Sprintf("Handled: %s of the requests of %s to %s %s refused: %s%s a minute", share(percent), who, p.Subject, are, up,
			words.Count(p.Now))
	}
	return fmt.Sprintf("%s %s %s a minute to %s", who, verb, quantity(p.Now, "request"), p.Subject)
}

// flooded completes the problem of a flood whose latest minute was some minutes ago. One that is over
// is told with its peak.
func flooded(p statusapi.Problem, load *counters.Load, minutes int, over bool, now time.Time) statusapi.Problem {
	p.Before, p.Subject, p.Advice = int(p.Usual), statusapi.SiteName(load.Site), slower(load.Label)
	tail := "; how many are usual is not known before six hours"
	if p.Usual > 0 {
		tail = fmt.Sprintf("; %.1f are usual", p.Usual)
	}
	if over {
		until := now.Truncate(time.Minute).Add(time.Duration(1-minutes) * time.Minute)
		p.Now, p.Until = p.Peak, timeOf(until)
		tail = ", until " + words.Time(until, now) + tail
	}
	many := load.Crawler == ""
	who, label := load.Crawler, named(load.Label)
	if many {
		who, label = "all robots together", "all robots together"
	}
	got, would := load.Handled(minutes), load.WouldHold(minutes)
	switch {
	case got > 0:
		p.Severity, p.Advice = statusapi.Remark, handledAdvice
	case would > 0:
		enforcing := "; enforcing would refuse "
		if over {
			enforcing = "; enforcing would have refused "
		}
		tail += enforcing + share(would) + " of it"
		p.Advice = "Take `mode monitor` out of the block `robots`, or set the mode enforce."
		p.Actions = []statusapi.Action{{What: "Enforce the rules until Caddy loads its configuration again", Text: "mode?mode=enforce",
			Where: statusapi.Command}}
	}
	p.Message, p.Plain = sentence(&p, who, got, many)+tail, sentence(&p, label, got, many)+tail
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
func floods(loads []*counters.Load, open map[problemKey]*statusapi.Problem, now time.Time) (list []statusapi.Problem) {
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
			list = append(list, flooded(p, load, minutes, isOver(load, minutes, least, now), now))
		}
	}
	return slices.DeleteFunc(list, func(x statusapi.Problem) bool {
		return slices.ContainsFunc(list, func(y statusapi.Problem) bool {
			return x.Kind == y.Kind && (x.Sites[0] == y.Pattern || x.Crawler == everybody && x.Sites[0] == y.Sites[0] && y.Crawler != everybody)
		})
	})
}
