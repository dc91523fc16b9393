package challenge

import (
	"cmp"
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// states yields the storms that are held now, with the names of their sites.
func (c *Check) states(now time.Time) iter.Seq2[string, State] {
	return func(yield func(string, State) bool) {
		for storm := range c.Storms {
			if state := storm.State(now); state.On && !yield(cmp.Or(storm.Host, statusapi.AnySite), state) {
				return
			}
		}
	}
}

// nameOf returns the name of a site for people.
func nameOf(site string) string {
	if site == statusapi.AnySite {
		return "this server"
	}
	return site
}

func at(t time.Time) string { return t.UTC().Format("2 January 15:04 UTC") }

// accident returns the accident of a storm at a site.
func accident(site string, state *State) step.Problem {
	return step.Problem{Severity: statusapi.Severe, Kind: statusapi.Strangers, Crawler: "all", Sites: []string{site}, Since: &state.Since}
}

// enforceAdvice says how a check that is only monitored begins.
const enforceAdvice = "To hold them, take `mode monitor` out of the block `robots`: the check then begins at once."

// Accidents implements step.Feature.
func (c *Challenge) Accidents(monitored bool) (list []step.Problem) {
	for site, state := range c.check.states(clock.Now()) {
		p, name := accident(site, &state), nameOf(site)
		strangers := words.Plural(state.Asked, "stranger", "strangers")
		switch {
		case c.check.IsOff(site):
			p.Now = state.Lone
			p.Message = fmt.Sprintf("strangers storm pages of `%s` at %s, and challenge is switched off", c.check.Name, name)
			p.Advice = "`POST /robots/challenge?set=configured` switches it on."
			p.Actions = []statusapi.Action{{What: "Switch challenge on again", Text: "challenge?set=configured", Where: statusapi.Command}}
		case monitored:
			p.Before, p.Now, p.Advice = state.Passed, state.Asked, "In monitor mode they get their pages. "+enforceAdvice
			p.Message = fmt.Sprintf("%s who asked %s for pages of `%s` since %s would have been checked", strangers, name, c.check.Name, at(state.Since))
			p.Actions = []statusapi.Action{{What: "Enforce it until Caddy loads its configuration again", Text: "mode?mode=enforce", Where: statusapi.Command}}
		default:
			p.Severity, p.Before, p.Now, p.Advice = statusapi.Remark, state.Passed, state.Asked, "Nothing to do."
			p.Message = fmt.Sprintf("Handled: %d of %s who asked %s for pages of `%s` since %s did not pass the check",
				max(0, state.Asked-state.Passed), strangers, name, c.check.Name, at(state.Since))
		}
		list = append(list, p)
	}
	return list
}

// View implements step.Feature.
func (c *Challenge) View(bool) step.Section {
	s := step.Section{
		Title: "Strangers that are asked whether they are browsers",
		Columns: []step.Column{
			{Name: "asked since"}, {Name: "pages of lone addresses", Number: true}, {Name: "asked", Number: true},
			{Name: "passed", Number: true},
		},
		Note: "Pages of lone addresses are those in the time of `over` that left to addresses which fetched nothing else.",
	}
	now, since := clock.Now(), ""
	var sum State
	for storm := range c.check.Storms {
		state := storm.State(now)
		if state.On && (since == "" || state.Since.Before(sum.Since)) {
			sum.Since, since = state.Since, state.Since.UTC().Format("2006-01-02 15:04")
		}
		sum.Lone, sum.Asked, sum.Passed = sum.Lone+state.Lone, sum.Asked+state.Asked, sum.Passed+state.Passed
	}
	s.Rows = [][]string{{since, strconv.Itoa(sum.Lone), strconv.Itoa(sum.Asked), strconv.Itoa(sum.Passed)}}
	return s
}

// Explain implements step.Feature.
func (c *Challenge) Explain(r *judge.Request, d *judge.Decision) string {
	settings, err := c.config()
	if err != nil || d.Reason != judge.Person || !New(nil, settings, nil).closes(d.Rules, r) {
		return ""
	}
	return "while strangers storm the path, a browser without a pass is asked first (" + settings.Name + ")"
}

// Problems implements step.Troubled.
func (c *Challenge) Problems() (list []step.Problem) {
	now := clock.Now()
	note := func(severity, kind, site, message, advice string) {
		p := step.Problem{Severity: severity, Kind: kind, Message: message, Advice: advice}
		if site != "" {
			p.Subject, p.Sites = nameOf(site), []string{site}
		}
		list = append(list, p)
	}
	damaged, err := c.check.Keys(now)
	if err != nil {
		note(statusapi.Warning, "challenge", "", "the keys of passes can't be read or stored: those that are known stay in use, and passes may end "+
			"with this process: "+err.Error(), "Check that Caddy's user may read and write robots/challenge/keys in Caddy's storage.")
	}
	if !damaged.IsZero() {
		note(statusapi.Remark, "challenge", "", "the file of the keys of passes was damaged, and was replaced at "+damaged.UTC().Format(time.DateTime)+
			" UTC: browsers show once more that they are browsers", "Find out what changed robots/challenge/keys in Caddy's storage.")
	}
	for storm := range c.check.Storms {
		state, site := storm.State(now), cmp.Or(storm.Host, statusapi.AnySite)
		name := nameOf(site)
		if state.Blind {
			note(statusapi.Warning, "challenge_blind", site, "fewer than half of the visitors of "+name+
				" fetch images, styles and scripts from it, so `over` of challenge counts the pages of all clients without a pass",
				"If many people read these pages, set `over` higher than what they request.")
		}
		if !state.Trouble.IsZero() {
			note(statusapi.Warning, "challenge_broken", site, fmt.Sprintf("at %s, since %s: %d networks fetched the style sheet of the check, and nobody "+
				"came back with the cookie: the page shows its button alone", name, at(state.Trouble), troubled),
				"A CDN, cache or proxy in front must pass queries, keep Set-Cookie and not replace answers with status 429.")
		}
		for _, cohort := range state.Once {
			note(statusapi.Remark, "challenge_once", site, fmt.Sprintf("at %s, %d of %d passes of the User-Agent %s were used once: "+
				"a fleet that solves the check, or visitors who leave after a page%s", name, cohort.Passes-cohort.Back, cohort.Passes,
				strconv.QuoteToASCII(cohort.UserAgent), cohort.elsewhere()), "Look for it in the log: nothing here holds it.")
			if text := c.refusal(&cohort); text != "" {
				p := &list[len(list)-1]
				p.Severity, p.Advice = statusapi.Warning, "If nobody needs it, refuse it on these paths."
				p.Actions = []statusapi.Action{{
					What: "If nobody needs it, refuse it there: in the block of the site, beside robots", Text: text, Where: statusapi.Caddyfile,
				}}
			}
		}
	}
	return list
}

// Misfits implements step.Fitter.
func (c *Challenge) Misfits(rules *judge.Rules) (list []step.Problem) {
	if c.Disallowed && rules.DisallowsNoPart() {
		list = append(list, step.Problem{
			Severity: statusapi.Warning, Kind: "challenge",
			Message: "`challenge disallowed` checks nobody: robots.txt disallows no path to `*`, or only the whole site",
			Advice:  "Write patterns of paths in place of disallowed, `/*` for the whole site.",
		})
	}
	if trap := c.check.Trap; trap != "" {
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
