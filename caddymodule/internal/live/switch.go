package live

import (
	"context"
	"net/http"
	"slices"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// HasSwitch implements statusapi.Reporter.
func (r *Reporter) HasSwitch(name string) bool {
	return slices.ContainsFunc(r.handlers(), func(h *Handler) bool { return h.Switches[name] != nil })
}

// Switch implements statusapi.Reporter.
func (r *Reporter) Switch(_ context.Context, scope statusapi.Scope, query statusapi.SwitchQuery) (*statusapi.Switched, error) {
	if query.Set == "" {
		return nil, badRequest("set is missing: want off or configured")
	}
	answer := &statusapi.Switched{Set: query.Set, Sites: []string{}}
	on := query.Set == statusapi.Configured
	chosen, err := r.chosen(scope)
	if err != nil {
		return nil, err
	}
	for h, hosts := range chosen {
		step := h.Switches[query.Step]
		switch {
		case step == nil:
			continue
		case hosts == nil:
			step.Switch("", on)
			hosts = h.Hosts
		default:
			for _, host := range hosts {
				step.Switch(host, on)
			}
		}
		answer.Sites = append(answer.Sites, hosts...)
	}
	if len(answer.Sites) == 0 {
		return nil, statusapi.Errorf(http.StatusNotFound, "no handler with %s serves these sites", query.Step)
	}
	slices.Sort(answer.Sites)
	answer.Sites = slices.Compact(answer.Sites)
	r.app.Log.Warn(query.Step+" was set until the next load of the configuration", zap.String("set", query.Set), zap.Strings("sites", answer.Sites))
	return answer, nil
}
