package caddymodule

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/managed"
)

// parsePolicy parses
//
//	policy [no-training | no-ai] {
//		deny    <purposes and crawlers...> [<paths...>]
//		allow   <crawlers...>
//		delay   <purposes and crawlers...> <duration>
//		signal  <key>=<value>...
//		usage   <key>=<value>...
//		license <url>
//		hidden  <paths...>
//	}
func parsePolicy(h *Handler, d *caddyfile.Dispenser) error {
	p := &policyParser{policy: &managed.Policy{File: filepath.Base(d.File())}, file: d.File(), at: map[int]caddyfile.Dispenser{d.Line(): *d}}
	head := *d
	for _, name := range d.RemainingArgs() {
		p.policy.Presets = append(p.policy.Presets, managed.Preset{Name: name, Line: d.Line()})
	}
	h.Policy = p.policy
	err := parseBlock(h, d, map[string]subdirective{
		"deny": p.deny, "allow": p.allow, "delay": p.delay, "signal": p.signal, "usage": p.usage, "license": p.license, "hidden": p.hidden,
	})
	if err != nil {
		return err
	}
	if !p.policy.Publishes() && len(p.policy.Hidden)+len(p.policy.Allow) == 0 {
		return head.Errf("policy has no rules: give %s, or a block with rules", strings.Join(managed.PresetNames(), " or "))
	}
	h.later = append(h.later, func() error { return p.check(h, &head) })
	return nil
}

// policyParser collects the statements of a policy.
type policyParser struct {
	policy *managed.Policy
	file   string                      // that has the policy
	at     map[int]caddyfile.Dispenser // by line, for errors that are found later
}

// check returns the first error of the policy. It skips unknown names if a
// registry may add them, which is read only when the configuration is loaded.
func (p *policyParser) check(h *Handler, head *caddyfile.Dispenser) error {
	registry, complete := h.knownRegistry()
	_, err := p.policy.Compile(registry)
	for _, e := range statementErrors(err) {
		if e.UnknownName && !complete {
			continue
		}
		where := *head
		if d, ok := p.at[e.Line]; ok {
			where = d
		}
		return where.Errf("policy: %s", e.Message)
	}
	return nil
}

// statementErrors returns the errors that managed.Policy.Compile joined.
func statementErrors(err error) (list []*managed.StatementError) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	for _, e := range joined.Unwrap() {
		if s, ok := errors.AsType[*managed.StatementError](e); ok {
			list = append(list, s)
		}
	}
	return list
}

// line records and returns the line of a statement. If another file has the
// statement, because it is imported, no one file has all lines.
func (p *policyParser) line(d *caddyfile.Dispenser) int {
	p.at[d.Line()] = *d
	if d.File() != p.file {
		p.policy.File = ""
	}
	return d.Line()
}

// values returns the values of a statement and its line.
func (p *policyParser) values(d *caddyfile.Dispenser) ([]string, int, error) {
	name, line := d.Val(), p.line(d)
	args := d.RemainingArgs()
	if len(args) == 0 {
		return nil, 0, d.Errf("%s needs at least one value", name)
	}
	return args, line, nil
}

func (p *policyParser) deny(_ *Handler, d *caddyfile.Dispenser) error {
	args, line, err := p.values(d)
	if err != nil {
		return err
	}
	deny := managed.Deny{Line: line}
	for _, a := range args {
		switch path := strings.HasPrefix(a, "/") || strings.HasPrefix(a, "*"); {
		case path:
			deny.Paths = append(deny.Paths, a)
		case len(deny.Paths) > 0:
			return d.Errf("deny: %q comes after a path: write purposes and crawlers before the paths", a)
		default:
			deny.Crawlers = append(deny.Crawlers, a)
		}
	}
	p.policy.Deny = append(p.policy.Deny, deny)
	return nil
}

func (p *policyParser) allow(_ *Handler, d *caddyfile.Dispenser) error {
	args, line, err := p.values(d)
	p.policy.Allow = append(p.policy.Allow, managed.Allow{Crawlers: args, Line: line})
	return err
}

func (p *policyParser) delay(_ *Handler, d *caddyfile.Dispenser) error {
	args, line, err := p.values(d)
	if err != nil {
		return err
	}
	last := len(args) - 1
	interval, err := caddy.ParseDuration(args[last])
	if err != nil {
		return d.Errf("delay: %q is not a duration: write one at the end, as 10s or 1m", args[last])
	}
	p.policy.Delay = append(p.policy.Delay, managed.Delay{Crawlers: args[:last], Interval: interval.String(), Line: line})
	return nil
}

func (p *policyParser) signal(_ *Handler, d *caddyfile.Dispenser) (err error) {
	p.policy.Signal, err = p.preferences(p.policy.Signal, d)
	return err
}

func (p *policyParser) usage(_ *Handler, d *caddyfile.Dispenser) (err error) {
	p.policy.Usage, err = p.preferences(p.policy.Usage, d)
	return err
}

func (p *policyParser) preferences(list []managed.Preference, d *caddyfile.Dispenser) ([]managed.Preference, error) {
	name := d.Val()
	args, line, err := p.values(d)
	for _, a := range args {
		key, value, ok := strings.Cut(a, "=")
		if !ok {
			return nil, d.Errf("%s: %q is not key=value", name, a)
		}
		list = append(list, managed.Preference{Key: key, Value: strings.TrimSuffix(value, ","), Line: line})
	}
	return list, err
}

func (p *policyParser) license(_ *Handler, d *caddyfile.Dispenser) error {
	line := p.line(d)
	arg, err := one(d)
	p.policy.License = append(p.policy.License, managed.License{URL: arg, Line: line})
	return err
}

func (p *policyParser) hidden(_ *Handler, d *caddyfile.Dispenser) error {
	args, line, err := p.values(d)
	for _, a := range args {
		p.policy.Hidden = append(p.policy.Hidden, managed.Hidden{Path: a, Line: line})
	}
	return err
}

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
	if usage := lines.Usage(); usage != "" && !isOn(h.Signals) {
		h.usage = []string{usage}
	}
	if h.Policy.Publishes() && h.Mode != modeMonitor {
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
