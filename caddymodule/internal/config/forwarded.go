package config

import (
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/forwarded"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/headers"
)

// forwardedRequest parses
//
//	forwarded_request off | x_forwarded | x_original
func (p *parser) forwardedRequest(name string, values []string) error {
	p.checkLater(func() error {
		if p.global {
			return nil
		}
		return p.merged().checkForwarded()
	})
	return lines.Choice(&p.settings.ForwardedRequest, families)(name, values)
}

// IsForwarded reports whether the requests that sub-requests describe are judged.
func (s *Settings) IsForwarded() bool {
	return s.ForwardedRequest != "" && s.ForwardedRequest != forwarded.Off
}

// Unseen returns the settings that can't work if the handler does not see the page or
// when it ends.
func (s *Settings) Unseen() (names []string) {
	add := func(set bool, name string) {
		if set {
			names = append(names, name)
		}
	}
	for name, step := range s.KnownSteps() {
		add(step.Info().NeedsResponse && !step.Info().Default, name)
	}
	add(s.Challenge != nil, "challenge")
	add(slices.ContainsFunc(s.Limits, func(l Limit) bool { return l.AtOnce > 0 || l.EachAtOnce > 0 }), "at_once in limit")
	for _, rule := range s.XRobotsTag {
		add(rule.Kind == headers.KindType || rule.Kind == headers.KindStatus, "x_robots_tag by "+string(rule.Kind))
	}
	return names
}

// checkForwarded returns an error for settings that have no effect on a
// sub-request, because it ends before the page is made, or that a proxy can't
// carry out. Call it after AddDefaults.
func (s *Settings) checkForwarded() error {
	if !s.IsForwarded() {
		return nil
	}
	unseen := s.Unseen()
	switch {
	case s.Source == nil || s.Source.Kind == "":
		return errors.New("forwarded_request needs a line source that says where the proxy's site has its robots.txt: " +
			"source url https://example.com/robots.txt, or source site with a reverse_proxy to that site after robots")
	case len(unseen) > 0:
		return fmt.Errorf("forwarded_request: %s can't work, because the handler does not see the page or when it ends: "+
			"remove it, or set it to off", unseen[0])
	}
	for _, a := range s.Answers {
		if a.Redirect == "" {
			continue
		}
		if s.ForwardedRequest == forwarded.XOriginal {
			return fmt.Errorf("forwarded_request x_original: answer %s can't redirect, because nginx gets a 403: "+
				"redirect in the configuration of nginx", a.Verdict)
		}
		if u, err := url.Parse(a.Redirect); err == nil && u.Host == "" && !hasPlaceholder(a.Redirect) {
			return fmt.Errorf("forwarded_request: answer %s redir %s: "+
				"write a full URL, because Traefik adds the address of this server to a path", a.Verdict, a.Redirect)
		}
	}
	return nil
}
