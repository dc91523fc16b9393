package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/output"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/internal/background"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Control sequences of terminals. The alternate screen is that of xterm (DECSET 1049);
// the others are in ECMA-48, sections 8.3.21, 8.3.39 and 8.3.41, and DECTCEM.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l" // and hide the cursor
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	toTop       = "\x1b[H"
	clearLine   = "\x1b[K"
	clearBelow  = "\x1b[J"
)

// repeat prints the status repeatedly until ctx ends: on a terminal, on its alternate
// screen, which it leaves however it ends. If Caddy does not answer, for example during
// a restart, it tries again.
func (o *statusOptions) repeat(ctx context.Context, address string, w io.Writer) error {
	onScreen := output.IsTerminal(w) && !o.json
	if onScreen {
		fmt.Fprint(w, enterScreen)
		defer fmt.Fprint(w, leaveScreen)
	}
	tick := time.NewTicker(o.every)
	defer tick.Stop()
	var reports []*statusReport
	for {
		next := make(chan answer, 1)
		background.Go("status", func() { next <- o.answer(address) })
		select {
		case <-ctx.Done(): // also while Caddy does not answer
			return nil
		case a := <-next:
			if a.panicked != nil {
				panic(a.panicked)
			}
			var page strings.Builder
			width, height := output.Size(w)
			if a.err == nil {
				reports = recent(reports, a.report)
				a.err = o.print(&page, a.report, width, output.PaintFor(w))
			}
			if a.err != nil {
				fmt.Fprintf(&page, "Error: %v\n", a.err)
			}
			text := page.String()
			if onScreen {
				text = onePage(text, height)
			}
			if _, err := io.WriteString(w, text); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// answer is the result of ask in another goroutine.
type answer struct {
	report   *statusReport
	err      error
	panicked any // only the first goroutine can leave the screen before the program ends
}

func (o *statusOptions) answer(address string) (a answer) {
	defer func() { a.panicked = recover() }()
	a.report, a.err = o.ask(address)
	return a
}

// onePage returns what shows a text on a screen with so many lines.
func onePage(text string, height int) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	last := "Press Control-C to end."
	if room := max(height-2, 1); len(lines) > room {
		last = fmt.Sprintf("%s More lines: %d. Use --limit, --site or a larger window.", last, len(lines)-room)
		lines = lines[:room]
	}
	return toTop + strings.Join(append(lines, "", last), clearLine+"\n") + clearLine + clearBelow
}

// ratePeriod is the period over which rates are measured.
const ratePeriod = time.Minute

// recent adds a report to those of the last ratePeriod, and tells it the earliest of
// them. Before a restart of Caddy, there are none.
func recent(reports []*statusReport, s *statusReport) []*statusReport {
	for len(reports) > 0 && (s.Now.Sub(reports[0].Now) > ratePeriod || !s.Since.Equal(reports[0].Since)) {
		reports = reports[1:]
	}
	if len(reports) > 0 {
		s.earlier = reports[0]
	}
	s.totals = map[string]uint64{"": s.Crawlers.Total.Requests}
	for i := range s.Sites {
		s.totals["site "+s.Sites[i].Name] = s.Sites[i].Crawlers.Total.Requests
	}
	for i := range s.Busiest {
		s.totals[s.Busiest[i].Class+" "+s.Busiest[i].Name] = s.Busiest[i].Total.Requests
	}
	return append(reports, s)
}

// rate returns the number of requests a minute since the earlier report, "" if it is
// not known. key is that of totals.
func (s *statusReport) rate(key string, now statusapi.Windows[statusapi.Counts]) string {
	if s.earlier == nil {
		return ""
	}
	before, known := s.earlier.totals[key]
	passed := s.Now.Sub(s.earlier.Now)
	if !known || passed <= 0 || now.Total.Requests < before {
		return ""
	}
	return words.Short(float64(now.Total.Requests-before) / passed.Minutes())
}
