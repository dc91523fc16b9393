package challenge

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/shared"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// The watch for storms looks at one in watchedShare addresses, so that it costs people's
// requests nearly nothing. Their pages at more than 60 a minute of all addresses are a storm.
const (
	watchedShare  = 16
	watchedWindow = 2 * time.Minute
	watchedOver   = 60 * 2 / watchedShare
)

// Storms tells of storms on all pages for which no `challenge` asks. It watches a part of the
// addresses, and changes no decision. Default: on.
//
//	storms off
type Storms struct {
	check *Check
	shared.User
}

// CaddyModule returns the Caddy module information.
func (*Storms) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.robots.steps.storms", New: func() caddy.Module { return new(Storms) }}
}

// Info implements step.Step.
func (*Storms) Info() step.Info {
	return step.Info{Stage: step.Check, Default: true, NeedsResponse: true}
}

// UnmarshalCaddyfile sets up the step. Syntax:
//
//	storms [off]
func (*Storms) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	if d.NextArg() || d.NextBlock(0) {
		return d.Errf("storms: unexpected %q: want off, or nothing", d.Val())
	}
	return nil
}

// Join implements step.Step.
func (s *Storms) Join(site step.Site) (err error) {
	s.check = New(shared.Use(&s.User, "challenge", NewMemory), Config{name: "storms", over: watchedOver, window: watchedWindow}, site.Key)
	s.check.paths, err = judge.PathGroup([]string{"/*"})
	return err
}

// Wrap implements step.Decider.
func (s *Storms) Wrap(next step.Decide) step.Decide {
	return func(x *step.Exchange) {
		asked := arrivals.Of(x)
		if maphash.String(s.check.memory.seed, x.Request.Client)%watchedShare == 0 && !asked.matches && asked.memory == nil {
			s.check.watch(x)
		}
		next(x)
	}
}

// watch counts a page of a stranger. It changes nothing.
func (c *Check) watch(x *step.Exchange) {
	if c.kindOf(x) != stranger {
		return
	}
	a := c.arrival(x)
	a.storm, a.matches = c.storm(&x.Request, a.now), true
	a.counted = a.storm.count(a.ofAddress(), a.now, false)
	if a.counted.isLone {
		a.cell = a.storm.cohorts.cellOf(a.bearer.userAgent)
		a.cell.counts(a.bearer.userAgent)
	}
	a.storm.IsOn(a.now, nil)
}

// Respond implements step.Responder.
func (s *Storms) Respond(x *step.Exchange, w http.ResponseWriter) http.ResponseWriter {
	return s.check.Respond(x, w)
}

// End implements step.Ender.
func (s *Storms) End(x *step.Exchange) { s.check.End(x) }

// Problems implements step.Diagnoser.
func (s *Storms) Problems(monitored bool) (list []step.Problem) {
	for storm := range s.check.Storms {
		if p, ok := storm.fleet("", clock.Now()); ok && !storm.on.Load() {
			latest, _ := storm.kept("")
			hosts := words.Map(latest, func(one sample) string { return one.host })
			slices.Sort(hosts)
			for _, host := range slices.Compact(hosts) {
				if part, ok := storm.fleet(host, clock.Now()); ok && host != "" {
					p.Parts = append(p.Parts, part)
				}
			}
			list = append(list, p)
		}
	}
	return append(list, s.check.accidents(func(storm seen, p *step.Problem) bool { return s.describe(storm, p, monitored) })...)
}

// describe says what a storm is after, and what to do. It reports whether that is known.
func (s *Storms) describe(storm seen, p *step.Problem, monitored bool) bool {
	patterns, doubt := s.check.stormed(storm.Storm, storm.host)
	if len(patterns) == 0 {
		return false
	}
	paths := strings.Join(patterns, " ")
	p.Now, p.AmongPeople = storm.perMinute()*watchedShare, true
	who, have := "many addresses", " have"
	if n := storm.addresses.Load(); n > 0 && storm.host == "" {
		who = "about " + words.Plural(n*watchedShare, "address", "addresses")
	}
	if p.Until != nil {
		have = ""
	}
	when, _ := period(p)
	p.Message = fmt.Sprintf("%s%s requested pages of `%s` at %s and nothing else %s", who, have, paths, storm, when)
	if p.Until == nil && p.Now > 0 {
		p.Message += fmt.Sprintf(", of late about %s times a minute", words.Count(p.Now))
	}
	if doubt != "" {
		p.Kind, p.Severity = "storms", statusapi.Remark
		p.Message += "; but " + doubt
		p.Advice = "If the server is too slow, look at its log with `caddy robots audit --suggest`."
		return true
	}
	p.Advice = fmt.Sprintf("Write `challenge %s` into the block `robots` of %s, or add these paths to its line `challenge`"+
		": browsers then show once that they are browsers, without a click, and others get no page.", paths, storm.Storm)
	what := "Let browsers show once that they are browsers, without a click"
	if monitored {
		p.Advice += " In monitor mode they still get their pages. " + enforceAdvice
		what += ", and take `mode monitor` out of the block: in monitor mode strangers still get their pages"
	}
	p.Actions = []statusapi.Action{{What: what, Text: "challenge " + paths, Where: statusapi.Caddyfile}}
	if storm.host == "" {
		storm.name(p, patterns)
	}
	return true
}

// fleet returns a note about the clients of the latest pages, at a host or all, that may be a fleet,
// whatever they fetch, if more than `over` of its pages come.
func (s *Storm) fleet(host string, now time.Time) (p step.Problem, ok bool) {
	if all, _, _ := s.sum(uint32(now.Unix()), 0); all <= s.check.over {
		return p, false
	}
	latest, _ := s.kept(host)
	isFull := len(latest) == samples
	var visits []cost.Visit
	first, last := uint32(now.Unix()), make(map[string]uint32) // by User-Agent
	for i := range latest {
		one := &latest[i]
		if age := uint32(now.Unix()) - one.at; one.isProgram || age > calmFor {
			continue
		}
		first = min(first, one.at)
		if agent := one.agents.agent.Load(); agent != nil {
			visits = append(visits, cost.Visit{Agent: *agent, Target: one.target})
			last[*agent] = max(last[*agent], one.at)
		}
	}
	f, ok := cost.FindFleet(visits)
	span := uint32(now.Unix()) - first
	if !isFull {
		span = max(span, minute) // they have just begun to come
	}
	perMinute := f.Here * watchedShare * minute / int(max(1, span))
	if !ok || uint32(now.Unix())-last[f.Agent] >= minute || perMinute <= watchedOver*watchedShare*minute/int(watchedWindow.Seconds()) {
		return p, false
	}
	paths, place := strings.Join(f.Patterns, " "), cmp.Or(host, s.String())
	p = step.Problem{
		Severity: statusapi.Remark, Kind: "storms", Sites: []string{cmp.Or(host, s.site())}, Now: perMinute, AmongPeople: true,
		Message: fmt.Sprintf("about %s times a minute, one User-Agent gets pages of `%s` at %s, and hardly any others, while other visitors "+
			"hardly want these: a fleet of robots, or people who follow one link", words.Count(perMinute), paths, place),
		Advice: "If they are robots, write `challenge " + paths + "` into the block `robots`: it asks all with this User-Agent there, " +
			"also those that fetch style sheets and images.",
	}
	p.Plain = p.Message
	p.Message = strings.Replace(p.Message, "one User-Agent", "the User-Agent "+strconv.QuoteToASCII(f.Agent), 1)
	return p, true
}

// Interface guards
var (
	_ caddy.CleanerUpper = (*Storms)(nil)
	_ step.Step          = (*Storms)(nil)
	_ step.Decider       = (*Storms)(nil)
	_ step.Responder     = (*Storms)(nil)
	_ step.Ender         = (*Storms)(nil)
	_ step.Diagnoser     = (*Storms)(nil)
)
