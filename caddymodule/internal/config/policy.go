package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// policyBlock collects the statements of a policy.
type policyBlock struct {
	*parser
	policy *managed.Policy
	file   string                      // that has the policy
	at     map[int]caddyfile.Dispenser // by line, for errors that are found later
}

// policy parses the block policy.
func (p *parser) policy(_ string, presets []string) error {
	head := p.Head
	if err := lines.InBlock("policy", presets); err != nil {
		return err
	}
	b := &policyBlock{p, &managed.Policy{File: filepath.Base(head.File())}, head.File(), map[int]caddyfile.Dispenser{head.Line(): head}}
	b.policy.Presets = words.Map(presets, func(name string) managed.Preset { return managed.Preset{Name: name, Line: head.Line()} })
	p.settings.Policy = b.policy
	err := p.Block(lines.Table{
		"deny":    b.statement(b.deny),
		"allow":   b.statement(b.allow),
		"signal":  b.preferences(&b.policy.Signal),
		"usage":   b.preferences(&b.policy.Usage),
		"license": lines.One(b.license),
		"hidden":  b.statement(b.hidden),
	}, nil, "deny", "allow", "signal", "usage", "license", "hidden")
	if err != nil {
		return err
	}
	if !b.policy.Publishes() && len(b.policy.Hidden)+len(b.policy.Allow)+len(b.policy.Usage) == 0 {
		return lines.Place(&head, fmt.Errorf("policy has no rules: give %s, or a block with rules", strings.Join(managed.PresetNames(), " or ")))
	}
	p.later = append(p.later, func() error { return b.check(&head) })
	return nil
}

// check returns the first error of the policy. It skips unknown names if a
// registry may add them, which is read only when the configuration is loaded.
func (b *policyBlock) check(head *caddyfile.Dispenser) error {
	registry, complete := b.knownRegistry()
	_, err := b.policy.Compile(registry)
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	for _, err := range joined.Unwrap() {
		e, ok := errors.AsType[*managed.StatementError](err)
		if !ok || e.UnknownName && !complete {
			continue
		}
		where := *head
		if d, ok := b.at[e.Line]; ok {
			where = d
		}
		return lines.Place(&where, fmt.Errorf("policy: %s", e.Message))
	}
	return nil
}

// line records and returns the number of the line. If another file has the
// statement, because it is imported, no one file has all lines.
func (b *policyBlock) line() int {
	line := b.Head.Line()
	b.at[line] = b.Head
	if b.Head.File() != b.file {
		b.policy.File = ""
	}
	return line
}

// statement returns a parser of a statement, which has at least one value.
func (b *policyBlock) statement(parse func(name string, values []string, line int) error) lines.Line {
	return func(name string, values []string) error {
		if len(values) == 0 {
			return fmt.Errorf("%s needs at least one value", name)
		}
		return parse(name, values, b.line())
	}
}

func (b *policyBlock) deny(_ string, values []string, line int) error {
	deny := managed.Deny{Line: line}
	for _, v := range values {
		switch path := strings.HasPrefix(v, "/") || strings.HasPrefix(v, "*"); {
		case path:
			deny.Paths = append(deny.Paths, v)
		case len(deny.Paths) > 0:
			return fmt.Errorf("deny: %q comes after a path: write purposes and crawlers before the paths", v)
		default:
			deny.Crawlers = append(deny.Crawlers, v)
		}
	}
	b.policy.Deny = append(b.policy.Deny, deny)
	return nil
}

func (b *policyBlock) allow(_ string, values []string, line int) error {
	b.policy.Allow = append(b.policy.Allow, managed.Allow{Crawlers: values, Line: line})
	return nil
}

// preferences returns a parser of preferences that adds to a list.
func (b *policyBlock) preferences(list *[]managed.Preference) lines.Line {
	return b.statement(func(name string, values []string, line int) error {
		for _, v := range values {
			key, value, ok := strings.Cut(v, "=")
			if !ok {
				return fmt.Errorf("%s: %q is not key=value", name, v)
			}
			*list = append(*list, managed.Preference{Key: key, Value: strings.TrimSuffix(value, ","), Line: line})
		}
		return nil
	})
}

func (b *policyBlock) license(_, url string) error {
	b.policy.License = append(b.policy.License, managed.License{URL: url, Line: b.line()})
	return nil
}

func (b *policyBlock) hidden(_ string, values []string, line int) error {
	hidden := func(path string) managed.Hidden { return managed.Hidden{Path: path, Line: line} }
	b.policy.Hidden = append(b.policy.Hidden, words.Map(values, hidden)...)
	return nil
}
