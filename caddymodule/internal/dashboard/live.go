package dashboard

import (
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
)

// Live is the data that the page fetches every few seconds.
type Live struct {
	Summary  *status.Summary  `json:"summary"`
	Hour     status.Series    `json:"hour"` // the last hour by minutes, for any liveQuery.Span
	Crawlers *status.Crawlers `json:"crawlers"`
	Origins  *status.Origins  `json:"origins"`
	Lines    *status.Lines    `json:"lines"` // of the origin liveQuery.OriginID; null without one
	Recent   *status.Recent   `json:"recent"`
	Suspects *status.Suspects `json:"suspects"`
}

// Maximum lengths of the lists in Live. The page shows how many more there are.
const (
	maxCrawlers = 300
	maxOrigins  = 200
	maxLines    = status.MaxLimit
	maxRecent   = 100
	maxSuspects = 100
)

// liveQuery selects the data of a Live.
type liveQuery struct {
	Span     string // of the counts: status.SpanHour, status.SpanDay or status.SpanMonth
	OriginID string // ID of the Origin to get the lines of; "": none
	After    uint64 // only refusals with a higher Seq
}

// newLive returns the data that the page shows for a scope.
func newLive(reporter status.Reporter, scope status.Scope, q liveQuery) (live *Live, err error) {
	live = new(Live)
	if live.Summary, err = reporter.Summary(scope, status.SummaryQuery{Span: q.Span}); err != nil {
		return nil, err
	}
	live.Summary.Now = time.Time{} // otherwise the entity tag would always change; the page uses the Date field
	live.Hour = live.Summary.Series
	if q.Span != status.SpanHour {
		hour, err := reporter.Summary(scope, status.SummaryQuery{Span: status.SpanHour})
		if err != nil {
			return nil, err
		}
		live.Hour = hour.Series
	}
	if live.Crawlers, err = reporter.Crawlers(scope, status.CrawlersQuery{Pages: status.Pages{Limit: maxCrawlers}, Span: q.Span}); err != nil {
		return nil, err
	}
	if live.Origins, err = reporter.Origins(scope, status.OriginsQuery{Pages: status.Pages{Limit: maxOrigins}}); err != nil {
		return nil, err
	}
	if q.OriginID != "" {
		if live.Lines, err = reporter.Lines(scope, status.LinesQuery{Pages: status.Pages{Limit: maxLines}, OriginID: q.OriginID}); err != nil {
			return nil, err
		}
	}
	if live.Recent, err = reporter.Recent(scope, status.RecentQuery{After: q.After, Limit: maxRecent}); err != nil {
		return nil, err
	}
	live.Suspects, err = reporter.Suspects(scope, status.Pages{Limit: maxSuspects})
	return live, err
}
