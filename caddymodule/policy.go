package caddymodule

import (
	"fmt"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// provisionPolicy compiles the policy, and registers a check that requests for
// /robots.txt reach the handler. If more says that a registry URL may add
// crawlers later, an unknown name is only logged.
func (h *Handler) provisionPolicy(registry *crawler.Registry, more bool) error {
	if h.Policy == nil {
		return nil
	}
	lines, err := h.Policy.Compile(registry)
	if err != nil {
		if lines == nil || !more {
			return err
		}
		h.log.Warn("no crawler has this name: it has no effect unless the registry's URL adds such a crawler", zap.Error(err))
	}
	if usage := lines.Usage(); usage != "" && !config.On(h.Signals) {
		h.usage = []string{usage}
	}
	if h.Policy.Publishes() && h.Mode != config.ModeMonitor {
		h.app.beforeStart(h.checkReached)
	}
	for _, b := range lines.Beyond() {
		h.log.Info("policy: a preset can't prevent this use", zap.String("what", b))
	}
	return nil
}

// checkReached returns an error if path matchers keep requests for /robots.txt
// from the handler, so that it can't publish its policy. Other obstacles are
// found when the file is read.
func (h *Handler) checkReached() error {
	if h.app.siteOf(h).PassesPath("/robots.txt") {
		return nil
	}
	return fmt.Errorf("robots: policy: a path matcher keeps requests for /robots.txt from this handler, so it can't publish the policy: " +
		"move robots out of the path matcher, or out of the handle block with the path")
}
