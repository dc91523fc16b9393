package shed

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// state returns the state of now, and how what is refused is called.
func (s *Shed) state(monitored bool) (state State, are string) {
	if monitored {
		are = "would be"
	} else {
		are = "are"
	}
	return s.load().State(clock.Now().UnixNano()), are
}

// View implements step.Viewer.
func (s *Shed) View(monitored bool) statusapi.Section {
	state, are := s.state(monitored)
	since := ""
	if !state.Since.IsZero() {
		since = state.Since.UTC().Format("2006-01-02 15:04")
	}
	return statusapi.Section{
		Title:   "Robots that " + are + " refused while the server is busy",
		Columns: []statusapi.Column{{Name: "busy since"}, {Name: "in flight", Number: true}, {Name: are + " refused"}},
		Rows:    [][]string{{since, strconv.Itoa(state.InFlight), strings.Join(state.Refused, ", ")}},
	}
}

// Explain implements step.Explainer.
func (*Shed) Explain(r *judge.Request, d *judge.Decision) string {
	step, ok := StepOf(r, d)
	if !ok {
		return ""
	}
	return fmt.Sprintf("refused while the server is busy, step %d of %d: %s", step+1, len(Steps), Steps[step])
}

var busy = statusapi.NewAccident("shedding", "The server is busy, so that `shed` refuses crawlers.")

// Problems implements step.Diagnoser.
func (s *Shed) Problems(monitored bool) []statusapi.Problem {
	state, are := s.state(monitored)
	if state.Since.IsZero() {
		return nil
	}
	name := statusapi.SiteName(s.hosts()[0])
	p := statusapi.Problem{Severity: statusapi.Warning, Kind: busy, Crawler: "all", Message: name + " is busy", Since: &state.Since, Now: state.InFlight,
		Advice: "A `limit` with `all` slows down the robots together, and a `deny` in `policy` stops those that name themselves."}
	if state.InFlight > 0 {
		p.Message += fmt.Sprintf(", with %s that wait for an answer", words.Plural(state.InFlight, "request", "requests"))
	}
	switch {
	case state.Few && 2*state.Programs > state.All:
		p.Crawler = ""
		p.Message = fmt.Sprintf("%s is busy: %d of %s of the last 10 seconds are those of programs and HTTP libraries that no rule binds. "+
			"Refusing robots would not help", name, state.Programs, words.Plural(state.All, "request", "requests"))
		p.Advice = "Look in the access log whose they are: apps and API clients of people are among them."
		p.Actions = []statusapi.Action{{What: strings.TrimSuffix(p.Advice, ".")}}
	case state.Few:
		p.Crawler = ""
		p.Advice = "With `challenge`, browsers show once that they are browsers, without a click, while strangers storm."
		p.Message = fmt.Sprintf("%s is busy: %d of %s of the last 10 seconds are browsers'. Refusing robots would not help",
			name, max(0, state.All-state.Robots-state.Programs), words.Plural(state.All, "request", "requests"))
	case len(state.Refused) > 0:
		p.Message += "; these robots " + are + " refused: " + strings.Join(state.Refused, ", ")
	}
	return []statusapi.Problem{p}
}
