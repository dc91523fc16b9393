package dashboard

import (
	"errors"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// Live is the data that the page fetches every few seconds.
type Live struct {
	Summary  *statusapi.Summary `json:"summary"`
	Hour     statusapi.Series   `json:"hour"` // the last hour by minutes, for any liveQuery.Span
	Crawlers crawlers           `json:"crawlers"`
	Origins  *statusapi.Origins `json:"origins"` // those that refuse most, and liveQuery.OriginID
	Lines    *statusapi.Lines   `json:"lines"`   // of liveQuery.OriginID; null without one
	Recent   *statusapi.Recent  `json:"recent"`
}

// crawlers has the crawlers with most requests.
type crawlers struct {
	Total    int       `json:"total"`
	Crawlers []crawler `json:"crawlers"`
}

// crawler is a statusapi.Crawler with the counts of liveQuery.Span instead of those of
// all spans. It has the series only if it is liveQuery.Crawler.
type crawler struct {
	statusapi.Crawler
	Hour   struct{}         `json:"hour,omitzero"`
	Day    struct{}         `json:"day,omitzero"`
	Month  struct{}         `json:"month,omitzero"`
	Total  struct{}         `json:"total,omitzero"`
	Counts statusapi.Counts `json:"counts"`
	Series []uint64         `json:"series,omitempty"`
}

// Maximum lengths of the lists in Live. The page shows how many more there are. For
// hundreds of sites, Live has about 30 KB.
const (
	maxSites    = 40
	maxCrawlers = 60
	maxOrigins  = 10
	maxLines    = statusapi.MaxLimit
	maxRecent   = 30
)

// liveQuery selects the data of a Live.
type liveQuery struct {
	Span     string // of the counts: statusapi.SpanHour, statusapi.SpanDay or statusapi.SpanMonth
	Filter   string // only sites with this text in their name, in the table of sites
	Crawler  string // Name of a Crawler that is not left out
	OriginID string // ID of the Origin to get the lines of; "": none
	After    uint64 // only refusals with a higher Seq
}

// newLive returns the data that the page shows for a scope.
func newLive(reporter statusapi.Reporter, scope statusapi.Scope, q liveQuery) (live *Live, err error) {
	live = &Live{Crawlers: crawlers{Crawlers: []crawler{}}}
	var errs [6]error
	live.Summary, errs[0] = reporter.Summary(scope, statusapi.SummaryQuery{Span: q.Span, Limit: maxSites, Name: q.Filter})
	hour := live.Summary
	if q.Span != statusapi.SpanHour {
		hour, errs[1] = reporter.Summary(scope, statusapi.SummaryQuery{Span: statusapi.SpanHour, Brief: true})
	}
	pages := statusapi.Pages{Limit: statusapi.MaxLimit}
	all, err := reporter.Crawlers(scope, statusapi.CrawlersQuery{Pages: pages, Span: q.Span, Advise: q.Crawler})
	errs[2] = err
	live.Origins, errs[3] = reporter.Origins(scope, statusapi.OriginsQuery{Pages: statusapi.Pages{Limit: maxOrigins}})
	if q.OriginID != "" {
		live.Lines, errs[4] = reporter.Lines(scope, statusapi.LinesQuery{Pages: statusapi.Pages{Limit: maxLines}, OriginID: q.OriginID})
	}
	live.Recent, errs[5] = reporter.Recent(scope, statusapi.RecentQuery{After: q.After, Limit: maxRecent})
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	live.Hour = hour.Series
	live.Summary.Now = time.Time{} // otherwise the entity tag would always change; the page uses the Date field
	live.Crawlers.Total = all.Total
	for i, c := range all.Crawlers {
		if i >= maxCrawlers && c.Name != q.Crawler {
			continue
		}
		one := crawler{Crawler: c, Counts: *c.In(q.Span)}
		if c.Name == q.Crawler {
			one.Series = c.Series
		}
		live.Crawlers.Crawlers = append(live.Crawlers.Crawlers, one)
	}
	if q.OriginID != "" && !slices.ContainsFunc(live.Origins.Origins, func(o statusapi.Origin) bool { return o.ID == q.OriginID }) {
		if one, err := reporter.Origins(scope, statusapi.OriginsQuery{ID: q.OriginID}); err == nil { // otherwise it is gone
			live.Origins.Origins = append(live.Origins.Origins, one.Origins...)
		}
	}
	return live, nil
}
