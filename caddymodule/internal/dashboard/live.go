package dashboard

import (
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// Live is the data that the page fetches every few seconds.
type Live struct {
	Summary  *statusapi.Summary  `json:"summary"`
	Hour     statusapi.Series    `json:"hour"` // the last hour by minutes, for any liveQuery.Span
	Crawlers *statusapi.Crawlers `json:"crawlers"`
	Origins  *statusapi.Origins  `json:"origins"`
	Lines    *statusapi.Lines    `json:"lines"` // of the origin liveQuery.OriginID; null without one
	Recent   *statusapi.Recent   `json:"recent"`
	Suspects *statusapi.Suspects `json:"suspects"`
}

// Maximum lengths of the lists in Live. The page shows how many more there are.
const (
	maxCrawlers = 300
	maxOrigins  = 200
	maxLines    = statusapi.MaxLimit
	maxRecent   = 100
	maxSuspects = 100
)

// liveQuery selects the data of a Live.
type liveQuery struct {
	Span     string // of the counts: statusapi.SpanHour, statusapi.SpanDay or statusapi.SpanMonth
	OriginID string // ID of the Origin to get the lines of; "": none
	After    uint64 // only refusals with a higher Seq
}

// newLive returns the data that the page shows for a scope.
func newLive(reporter statusapi.Reporter, scope statusapi.Scope, q liveQuery) (live *Live, err error) {
	live = new(Live)
	if live.Summary, err = reporter.Summary(scope, statusapi.SummaryQuery{Span: q.Span}); err != nil {
		return nil, err
	}
	live.Summary.Now = time.Time{} // otherwise the entity tag would always change; the page uses the Date field
	live.Hour = live.Summary.Series
	if q.Span != statusapi.SpanHour {
		hour, err := reporter.Summary(scope, statusapi.SummaryQuery{Span: statusapi.SpanHour})
		if err != nil {
			return nil, err
		}
		live.Hour = hour.Series
	}
	if live.Crawlers, err = reporter.Crawlers(scope, statusapi.CrawlersQuery{Pages: statusapi.Pages{Limit: maxCrawlers}, Span: q.Span}); err != nil {
		return nil, err
	}
	if live.Origins, err = reporter.Origins(scope, statusapi.OriginsQuery{Pages: statusapi.Pages{Limit: maxOrigins}}); err != nil {
		return nil, err
	}
	if q.OriginID != "" {
		if live.Lines, err = reporter.Lines(scope, statusapi.LinesQuery{Pages: statusapi.Pages{Limit: maxLines}, OriginID: q.OriginID}); err != nil {
			return nil, err
		}
	}
	if live.Recent, err = reporter.Recent(scope, statusapi.RecentQuery{After: q.After, Limit: maxRecent}); err != nil {
		return nil, err
	}
	live.Suspects, err = reporter.Suspects(scope, statusapi.Pages{Limit: maxSuspects})
	return live, err
}
