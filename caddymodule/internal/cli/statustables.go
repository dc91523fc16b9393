package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/report"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
)

// statusTables prints what a running Caddy tells, for people. What clients made
// up is made visible.
type statusTables struct {
	w     io.Writer
	span  string
	paint report.Paint
	err   error
}

func (t *statusTables) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, args...)
	}
}

// counts are those of the span.
func (t *statusTables) counts(w *status.Windows) *status.Counts {
	switch t.span {
	case status.SpanHour:
		return &w.Hour
	case status.SpanMonth:
		return &w.Month
	}
	return &w.Day
}

func (t *statusTables) people(w *status.PeopleWindows) uint64 {
	switch t.span {
	case status.SpanHour:
		return w.Hour
	case status.SpanMonth:
		return w.Month
	}
	return w.Day
}

func (t *statusTables) print(s *statusReport) {
	c := t.counts(&s.Crawlers)
	t.printf("Last %s until %s\n", t.span, s.Now.UTC().Format("2006-01-02 15:04:05 MST"))
	t.printf("Crawlers: %d requests, %d passed, %d denied, %d throttled", c.Requests, c.Passed, c.Denied, c.Throttled)
	if c.WouldDeny+c.WouldThrottle > 0 {
		t.printf("; in monitor mode %d would be denied, %d throttled", c.WouldDeny, c.WouldThrottle)
	}
	t.printf("\nPeople:   %d requests\n", t.people(&s.People))
	t.problems(&s.Health)
	t.table("SITE\tMODE\tCRAWLERS\tDENIED\tTHROTTLED\tPEOPLE", len(s.Sites), func(i int) []any {
		site := &s.Sites[i]
		mode := site.Mode
		if site.Overridden {
			mode += " (until the next load)"
		}
		c := t.counts(&site.Crawlers)
		return []any{site.Name, mode, c.Requests, c.Denied + c.WouldDeny, c.Throttled + c.WouldThrottle, t.people(&site.People)}
	})
	t.table("CRAWLER\tCLASS\tPURPOSE\tREQUESTS\tDENIED\tTHROTTLED\tVERIFIED\tLAST", len(s.Busiest), func(i int) []any {
		one := &s.Busiest[i]
		c := t.counts(&one.Windows)
		return []any{one.Name, one.Class, orDash(one.Purpose), c.Requests, c.Denied + c.WouldDeny, c.Throttled + c.WouldThrottle, verifiedShare(c), one.Last.UTC().Format("01-02 15:04")}
	})
	t.table("ORIGIN\tLAYER\tLINE\tGROUP\tRULE\tPASSED\tREFUSED\tLAST HOUR\tLAST DAY", len(s.Rules), func(i int) []any {
		r := &s.Rules[i]
		return []any{r.Origin, r.Layer, r.Line, orDash(r.Group), orDash(r.Rule), r.Passed, r.Denied + r.Throttled + r.WouldDeny + r.WouldThrottle, r.Hour, r.Day}
	})
	t.table("TIME\tHOST\tPATH\tCRAWLER\tFROM\tACTION\tREASON\tLINE", len(s.Recent), func(i int) []any {
		f := &s.Recent[i]
		return []any{f.Time.UTC().Format(time.TimeOnly), f.Host, orDash(f.Path), f.Crawler, f.Client, f.Action, f.Reason, f.Line}
	})
	t.table("ROBOTS.TXT\tSTATE\tRULES\tIN FORCE", len(s.Files), func(i int) []any {
		p := &s.Files[i]
		name := p.Origin
		if name == "" {
			name = strings.Join(p.Sites, ", ")
		}
		return []any{name, p.State, p.Rules, p.Message}
	})
}

// problems prints what is wrong and what to do.
func (t *statusTables) problems(h *status.Health) {
	if h.OK {
		t.printf("Health:   %s\n", t.paint.Good("no problems"))
		return
	}
	t.printf("\n")
	for _, p := range h.Problems {
		paint := t.paint.Odd
		if p.Severity == status.Severe {
			paint = t.paint.Bad
		}
		t.printf("%s %s\n    %s\n", paint(p.Severity+":"), report.Visible(p.Message), report.Visible(p.Advice))
	}
	if h.More > 0 {
		t.printf("and %d more problems\n", h.More)
	}
}

// maxCell is how wide a cell is at most, in characters.
const maxCell = 60

// table prints n rows below a head.
func (t *statusTables) table(head string, n int, row func(i int) []any) {
	if n == 0 || t.err != nil {
		return
	}
	t.printf("\n")
	w := tabwriter.NewWriter(t.w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, head)
	for i := range n {
		for j, cell := range row(i) {
			if j > 0 {
				fmt.Fprint(w, "\t")
			}
			fmt.Fprint(w, shortened(fmt.Sprint(cell)))
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); t.err == nil {
		t.err = err
	}
}

// shortened makes what a client sent fit for a cell.
func shortened(s string) string {
	visible := []rune(report.Visible(s))
	if len(visible) > maxCell {
		return string(visible[:maxCell-1]) + "…"
	}
	return string(visible)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// verifiedShare is the share of the requests that could be verified and were.
func verifiedShare(c *status.Counts) string {
	claims := c.Verified + c.Unverified + c.Impostors
	if claims == 0 {
		return "-"
	}
	return fmt.Sprintf("%d %%", c.Verified*100/claims)
}
