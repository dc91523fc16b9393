package cli

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/report"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

//go:embed status.txt
var statusTemplate string

// maxCell is the maximum width of a cell of a table on a terminal, in columns.
const maxCell = 60

// writeText writes the status as text. It escapes control characters from clients.
func (s *statusReport) writeText(w io.Writer, span string, onTerminal bool, paint report.Paint) error {
	total := inSpan(span, s.Crawlers)
	monitor := total.WouldDeny+total.WouldThrottle > 0 || slices.ContainsFunc(s.Sites, func(site statusapi.Site) bool { return site.Mode == statusapi.Monitor || site.Mode == "both" })
	layout := report.Layout{Paint: paint}
	if onTerminal {
		layout.Cell = maxCell
	}
	return layout.Execute(w, statusTemplate, template.FuncMap{
		"span":     func() string { return span },
		"monitor":  func() bool { return monitor },
		"counts":   func(w statusapi.Windows[statusapi.Counts]) statusapi.Counts { return inSpan(span, w) },
		"people":   func(w statusapi.Windows[uint64]) uint64 { return inSpan(span, w) },
		"requests": requests,
		"severe":   func(p statusapi.Problem) bool { return p.Severity == statusapi.Severe },
		"minute":   func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") },
		"partOf":   partOf,
		"verified": verifiedShare,
		"line":     lineOf,
		"list":     func(tokens []string) string { return words.List(tokens, 3) },
		"actions":  actionsOf,
		"origin":   originName,
	}, s)
}

// inSpan returns the value of the span.
func inSpan[T any](span string, w statusapi.Windows[T]) T {
	switch span {
	case statusapi.SpanHour:
		return w.Hour
	case statusapi.SpanMonth:
		return w.Month
	}
	return w.Day
}

// requests returns a number of requests in words.
func requests(n uint64) string {
	if n == 1 {
		return "1 request"
	}
	return fmt.Sprintf("%d requests", n)
}

// partOf says that a table has only a part of total rows.
func partOf(list any, total int) string {
	if n := reflect.ValueOf(list).Len(); n < total {
		return fmt.Sprintf(" (%d of %d)", n, total)
	}
	return ""
}

// lineOf returns the place of a line: in the site's robots.txt, or in a file of the
// configuration for the lines of a policy and for hidden paths.
func lineOf(layer, file string, line int) string {
	if line == 0 {
		return "-"
	}
	if layer == "file" {
		file = "robots.txt"
	}
	return fmt.Sprintf("%s:%d", report.Visible(cmp.Or(file, "configuration")), line)
}

// actionsOf returns the actions that a rule decided.
func actionsOf(c statusapi.LineCounts) string {
	var actions []string
	for _, a := range []struct {
		name  string
		count uint64
	}{{"pass", c.Passed}, {"deny", c.Denied}, {"throttle", c.Throttled}, {"would_deny", c.WouldDeny}, {"would_throttle", c.WouldThrottle}} {
		if a.count > 0 {
			actions = append(actions, a.name)
		}
	}
	return strings.Join(actions, ", ")
}

// originName returns an origin or, if the rules are the same for all origins of a
// handler, the handler's sites. The matchers of the handler follow, because a site may
// have several handlers.
func originName(o statusapi.Origin) string {
	name := cmp.Or(o.Origin, strings.Join(o.Sites, ", "))
	if o.Matcher != "" {
		name += " (" + o.Matcher + ")"
	}
	return name
}

// verifiedShare returns the share of verified requests among those that could be
// verified.
func verifiedShare(c statusapi.Counts) string {
	claims := c.Verified + c.Unverified + c.Impostors
	if claims == 0 {
		return "-"
	}
	return fmt.Sprintf("%d %%", c.Verified*100/claims)
}
