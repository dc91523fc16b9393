package dashboard

import (
	"context"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// hostile is a text that an attacker may send in any field.
const hostile = `</script><script>alert(1)</script><img src=x onerror=alert(2)>"'&{{.Nonce}}`

// reporter is a Reporter with hostile data.
type reporter struct {
	statusapi.Reporter
	asked  []string // a.test and b.test, if they were in the scope of a call
	writes int
}

var began = time.Date(2026, 11, 22, 14, 0, 0, 0, time.UTC)

func (p *reporter) note(s statusapi.Scope) {
	for _, site := range []string{"a.test", "b.test"} {
		if s.Site(site) {
			p.asked = append(p.asked, site)
		}
	}
}

func (p *reporter) Sites(s statusapi.Scope) (names []string) {
	for _, name := range []string{"a.test", "b.test"} {
		if s.Site(name) {
			names = append(names, name)
		}
	}
	return names
}

func (p *reporter) HasSite(s statusapi.Scope, name string) bool {
	return slices.Contains(p.Sites(s), name)
}

func (p *reporter) Status(s statusapi.Scope, q statusapi.Query) (*statusapi.Status, error) {
	p.note(s)
	return &statusapi.Status{
		Summary: &statusapi.Summary{
			Since:  began,
			Series: statusapi.Series{Steps: statusapi.Steps{Span: q.Span, Start: began, Step: 60, Count: 1}, People: []uint64{1}},
		},
		Sites: []statusapi.Site{{Name: hostile}}, Busiest: []statusapi.Crawler{{Name: hostile, Last: began}},
		Files: []statusapi.Origin{{ID: "a", Origin: "https://" + hostile}}, Last: q.After + 1,
		Recent: []statusapi.Refusal{{UserAgent: hostile, Path: hostile, Host: hostile}},
	}, nil
}

func (p *reporter) Lines(s statusapi.Scope, q statusapi.LinesQuery) (*statusapi.Lines, error) {
	if q.ID == "none" {
		return nil, &statusapi.Error{Status: 404, Message: "there is no policy " + hostile}
	}
	p.note(s)
	return &statusapi.Lines{Lines: []statusapi.Line{{Rule: hostile}}, Files: []statusapi.Origin{{ID: "a", Text: "# " + hostile}}}, nil
}

func (p *reporter) Check(_ statusapi.Scope, q statusapi.CheckQuery) (*statusapi.Check, error) {
	return &statusapi.Check{UserAgent: q.UserAgent, URL: q.URL}, nil
}

func (p *reporter) Refresh(context.Context, statusapi.Scope, statusapi.RefreshQuery) (*statusapi.Refresh, error) {
	p.writes++
	return nil, nil
}

func (p *reporter) ResetBudgets(context.Context, statusapi.Scope, statusapi.ResetQuery) (*statusapi.Reset, error) {
	p.writes++
	return nil, nil
}

func (*reporter) HasSwitch(string) bool { return false }

func (*reporter) Switch(context.Context, statusapi.Scope, statusapi.SwitchQuery) (*statusapi.Switched, error) {
	return nil, nil
}

func (p *reporter) SetMode(context.Context, statusapi.Scope, statusapi.ModeQuery) (*statusapi.Mode, error) {
	p.writes++
	return nil, nil
}
