package dashboard

import (
	"context"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
)

// hostile is a text that an attacker may send in any field.
const hostile = `</script><script>alert(1)</script><img src=x onerror=alert(2)>"'&{{.Nonce}}`

// reporter is a Reporter with hostile data.
type reporter struct {
	status.Reporter
	asked  []string // a.test and b.test, if they were in the scope of a call
	writes int
}

var began = time.Date(2026, 11, 22, 14, 0, 0, 0, time.UTC)

func (p *reporter) note(s status.Scope) {
	for _, site := range []string{"a.test", "b.test"} {
		if s.Site(site) {
			p.asked = append(p.asked, site)
		}
	}
}

func (p *reporter) Sites(s status.Scope) (names []string) {
	for _, name := range []string{"a.test", "b.test"} {
		if s.Site(name) {
			names = append(names, name)
		}
	}
	return names
}

func (p *reporter) HasSite(s status.Scope, name string) bool {
	return slices.Contains(p.Sites(s), name)
}

func (p *reporter) Summary(s status.Scope, q status.SummaryQuery) (*status.Summary, error) {
	p.note(s)
	return &status.Summary{
		Now: time.Now(), Since: began, Sites: []status.Site{{Name: hostile}},
		Series: status.Series{Steps: status.Steps{Span: q.Span, Start: began, Step: 60, Count: 1}, People: []uint64{1}},
	}, nil
}

func (p *reporter) Crawlers(status.Scope, status.CrawlersQuery) (*status.Crawlers, error) {
	return &status.Crawlers{Crawlers: []status.Crawler{{Name: hostile, Last: began}}}, nil
}

func (p *reporter) Origins(_ status.Scope, q status.OriginsQuery) (*status.Origins, error) {
	if q.ID == "none" {
		return nil, &status.Error{Status: 404, Message: "there is no policy " + hostile}
	}
	return &status.Origins{Origins: []status.Origin{{ID: "a", Origin: "https://" + hostile, Text: "# " + hostile}}}, nil
}

func (p *reporter) Lines(status.Scope, status.LinesQuery) (*status.Lines, error) {
	return &status.Lines{Lines: []status.Line{{Rule: hostile}}}, nil
}

func (p *reporter) Recent(_ status.Scope, q status.RecentQuery) (*status.Recent, error) {
	return &status.Recent{Last: q.After + 1, Refusals: []status.Refusal{{UserAgent: hostile, Path: hostile, Host: hostile}}}, nil
}

func (p *reporter) Suspects(status.Scope, status.Pages) (*status.Suspects, error) {
	return &status.Suspects{Suspects: []status.Suspect{{UserAgent: hostile}}}, nil
}

func (p *reporter) Check(_ status.Scope, q status.CheckQuery) (*status.Check, error) {
	return &status.Check{UserAgent: q.UserAgent, URL: q.URL}, nil
}

func (p *reporter) Refresh(context.Context, status.Scope, status.RefreshQuery) (*status.Refresh, error) {
	p.writes++
	return nil, nil
}

func (p *reporter) ResetBudgets(context.Context, status.Scope, status.ResetQuery) (*status.Reset, error) {
	p.writes++
	return nil, nil
}

func (p *reporter) SetMode(context.Context, status.Scope, status.ModeQuery) (*status.Mode, error) {
	p.writes++
	return nil, nil
}
