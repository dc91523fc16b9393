package cli

import (
	_ "embed"
	"io"
	"net/url"
	"text/template"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/report"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

//go:embed fleet.txt
var fleetTemplate string

// fleetStatus prints the counts of all servers of a fleet.
func (o *statusOptions) fleetStatus(address string, out io.Writer) (int, error) {
	var view statusapi.FleetView
	if err := o.get(address, "fleet?name="+url.QueryEscape(o.name), &view); err != nil {
		return exitFailed, err
	}
	if o.json {
		return 0, report.NewEncoder(out).Encode(view)
	}
	span := statusapi.SpanDay
	if o.span == statusapi.SpanHour {
		span = o.span
	}
	width, _ := sizeOf(out)
	return 0, report.Layout{Paint: paintFor(out), Width: width}.Execute(out, fleetTemplate, template.FuncMap{
		"span": func() string { return span },
		"counts": func(s statusapi.FleetSpans) statusapi.FleetCounts {
			if span == statusapi.SpanHour {
				return s.Hour
			}
			return s.Day
		},
		"age":    func(t time.Time) string { return max(0, view.Now.Sub(t)).Round(time.Second).String() },
		"partOf": partOf,
	}, view)
}
