package challenge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

var stormed = statusapi.NewAccident("strangers", "Many addresses request pages of `challenge`, or others, and nothing else. "+
	"It ends after five minutes with few. With `challenge`, it is a note.")

// seen is a storm as it is seen at one of the hosts that it hits, or at all.
type seen struct {
	*Storm
	host  string  // that only a pattern names; "" for all
	share float64 // of the storm
}

// accidents returns those of the storms that are held now. say says what becomes of one, and reports
// whether it is one.
func (c *Check) accidents(say func(seen, *step.Problem) bool) (list []step.Problem) {
	now := clock.Now()
	for s := range c.Storms {
		if !s.IsOn(uint32(now.Unix()), nil) {
			continue
		}
		since, last := time.Unix(int64(s.since.Load()), 0), time.Unix(int64(max(s.last.Load(), s.since.Load())), 0)
		p := step.Problem{Severity: statusapi.Severe, Kind: stormed, Sites: []string{s.site()}, Since: &since}
		if now.Sub(last) >= time.Minute { // it is told until it has been over for longer
			p.Until = &last
		}
		all := p
		if !say(seen{s, "", 1}, &all) {
			continue
		}
		shares := c.hosts(s)
		hosts := slices.SortedFunc(maps.Keys(shares), func(a, b string) int { return cmp.Or(cmp.Compare(shares[b], shares[a]), strings.Compare(a, b)) })
		for _, host := range hosts {
			part := p
			part.Sites, part.Pattern = []string{host}, s.site()
			if say(seen{s, host, shares[host]}, &part) {
				all.Parts = append(all.Parts, part)
			}
		}
		if len(hosts) > 0 {
			hits := "; the storm hits "
			if all.Until != nil {
				hits = "; the storm hit "
			}
			all.Plain = cmp.Or(all.Plain, all.Message)
			all.Message += hits + words.List(hosts, 3)
		}
		list = append(list, all)
	}
	return list
}

// period returns when the storm of a problem was, for messages, and the verb of who took part.
func period(p *step.Problem) (when, verb string) {
	now := clock.Now()
	if p.Until == nil {
		return "since " + words.Time(*p.Since, now), "storm"
	}
	return "from " + words.Time(*p.Since, now) + " to " + words.Time(*p.Until, now), "stormed"
}

// site returns the site of a storm, as problems have it.
func (s *Storm) site() string { return cmp.Or(s.Host, statusapi.AnySite) }

// String returns the name of the site for people.
func (s *Storm) String() string { return cmp.Or(s.Host, "this server") }

// String returns the name of the host or site for people.
func (s seen) String() string { return cmp.Or(s.host, s.Storm.String()) }

// perMinute returns how many pages lone addresses get in a minute.
func (s seen) perMinute() int { return int(s.share * float64(s.Storm.perMinute())) }

// enforceAdvice says how a check that is only monitored begins.
const enforceAdvice = "To hold them, take `mode monitor` out of the block `robots`: the check then begins at once."

// Problems implements step.Diagnoser.
func (c *Challenge) Problems(monitored bool) []step.Problem {
	return append(c.accidents(func(s seen, p *step.Problem) bool { c.describe(s, p, monitored); return true }), c.faults()...)
}

// describe says what becomes of a storm, in its accident. Who was asked is counted for all hosts
// together.
func (c *Challenge) describe(s seen, p *step.Problem, monitored bool) {
	asked, passed := int(s.asked.Load()), int(s.passed.Load())
	patterns, doubt := c.stormed(s.Storm, s.host)
	paths := "`" + c.name + "`"
	if c.isDisallowed() {
		paths += " (of late `" + strings.Join(patterns, " ") + "`)"
	} else {
		patterns = c.Paths
	}
	when, storm := period(p)
	who := fmt.Sprintf("%s from %s who asked %s for pages of %s %s", words.Plural(asked, "stranger", "strangers"),
		words.Plural(s.addresses.Load(), "address", "addresses"), s, paths, when)
	p.Before, p.Now = passed, asked
	if s.host != "" {
		who = fmt.Sprintf("strangers who asked %s for pages of %s %s", s, paths, when)
		p.Before, p.Now = 0, 0
	}
	switch {
	case c.IsOff(p.Sites[0]):
		p.Before, p.Now, p.AmongPeople = 0, s.perMinute(), true
		p.Message = fmt.Sprintf("%s, strangers %s pages of %s at %s, and challenge is switched off", when, storm, paths, s)
		p.Advice = "`POST /robots/challenge?set=configured` switches it on."
		p.Actions = []statusapi.Action{{What: "Switch challenge on again", Text: "challenge?set=configured", Where: statusapi.Command}}
	case monitored:
		p.Message, p.Advice = who+" would have been checked", "In monitor mode they get their pages. "+enforceAdvice
		p.Actions = []statusapi.Action{{What: "Enforce it until Caddy loads its configuration again", Text: "mode?mode=enforce", Where: statusapi.Command}}
	case c.mark:
		p.Severity, p.AmongPeople, p.Message = statusapi.Remark, true, who+" were marked, and not checked"
		p.Advice = "What follows the matcher `robots stranger` answers them."
	case s.host != "":
		p.Severity, p.Advice = statusapi.Remark, "Nothing to do."
		p.Message = "Handled: " + who + " have to show that they are browsers"
		if p.Until != nil {
			p.Message = "Handled: " + who + " had to show that they are browsers"
		}
	case asked >= leastAsked && 2*passed > asked:
		p.Severity, p.Message = statusapi.Warning, fmt.Sprintf("%s of %s passed the check", words.Count(passed), who)
		p.Advice = "They are people, or a fleet that solves the check, which nothing here holds."
	case asked == 0:
		p.Severity, p.Advice = statusapi.Remark, "Nothing to do: each name gets a few of them."
		p.Message = fmt.Sprintf("Handled: after a storm on pages of %s at %s, nobody was checked %s: no stranger came, or only with names of "+
			"crawlers that no rule binds", paths, s, when)
	default:
		p.Severity, p.Advice = statusapi.Remark, "Nothing to do."
		p.Message = fmt.Sprintf("Handled: %s of %s did not pass the check", words.Count(max(0, asked-passed)), who)
	}
	if doubt == elsewhere {
		p.Message += "; " + doubt + ", so `over` counts people too"
		p.Advice += " Set `over` above what people read."
	}
	if p.Severity != statusapi.Remark && s.host == "" {
		s.name(p, patterns)
	}
}

// Explain implements step.Explainer.
func (c *Challenge) Explain(r *judge.Request, d *judge.Decision) string {
	settings, err := c.config()
	if err != nil || d.Reason != judge.Person || !New(nil, settings, nil).closes(d.Rules, r) {
		return ""
	}
	return "while strangers storm the path, a browser without a pass is asked first (" + settings.name + ")"
}

// leastAsked is how many strangers show that most pass.
const leastAsked = 200

// leastWaiting is how many addresses show that the check's cookie does not come back.
const leastWaiting = 20

// faults returns what keeps the check from working as it should.
func (c *Challenge) faults() (list []step.Problem) {
	if failed := c.memory.keysFailed.Load(); failed != nil && *failed != nil {
		list = append(list, step.Problem{
			Severity: statusapi.Warning, Kind: "challenge",
			Message: "the keys of passes can't be read or stored: those that are known stay in use, and passes may end with this process: " + (*failed).Error(),
			Advice:  "Check that Caddy's user may read and write robots/challenge/keys in Caddy's storage.",
		})
	}
	if damaged := time.Unix(c.memory.damaged.Load(), 0); clock.Now().Sub(damaged) < day*time.Second {
		list = append(list, step.Problem{
			Severity: statusapi.Remark, Kind: "challenge",
			Message: "the file of the keys of passes was damaged, and was replaced at " + damaged.UTC().Format(time.DateTime) +
				" UTC: browsers show once more that they are browsers",
			Advice: "Find out what changed robots/challenge/keys in Caddy's storage.",
		})
	}
	for s := range c.Storms {
		if n := s.waiting.Load(); n >= leastWaiting && (s.on.Load() || c.always) {
			list = append(list, step.Problem{
				Severity: statusapi.Warning, Kind: "challenge_broken", Subject: s.String(), Sites: []string{s.site()},
				Message: fmt.Sprintf("at %s, %d addresses fetched the style sheet of the check, and nobody came back with the cookie: "+
					"they are robots, or people have to press the button", s, n),
				Advice: "Open such a page in a browser. If it asks you to press the button, a CDN, cache or proxy in front must pass queries, " +
					"keep Set-Cookie and not replace answers with status 429.",
			})
		}
	}
	return list
}

// Misfits implements step.Fitter.
func (c *Challenge) Misfits(rules *judge.Rules) (list []step.Problem) {
	if c.isDisallowed() && rules.DisallowsNoPart() {
		list = append(list, step.Problem{
			Severity: statusapi.Warning, Kind: "challenge",
			Message: "`challenge disallowed` checks nobody: robots.txt disallows no path to `*`, or only the whole site",
			Advice:  "Write patterns of paths in place of disallowed, `/*` for the whole site.",
		})
	}
	if trap := c.trap; trap != "" {
		if why := trap.Allowed(rules); why != "" {
			list = append(list, step.Problem{
				Severity: statusapi.Severe, Kind: "challenge",
				Message: fmt.Sprintf("challenge trap %s is not in force: robots.txt does not disallow it to every crawler: %s", trap, why),
				Advice:  "Disallow the folder in every group of robots.txt, or remove the line trap.",
			})
		}
	}
	return list
}
