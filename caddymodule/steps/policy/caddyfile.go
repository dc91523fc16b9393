package policy

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

// UnmarshalCaddyfile sets up the step. Syntax:
//
//	policy [no-training | no-ai] {
//		deny    <purposes and crawlers...> [<paths...>]
//		allow   <crawlers...>
//		signal  <key>=<value>...
//		usage   <key>=<value>...
//		license <url>
//		hidden  <paths...>
//	}
func (p *Policy) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	head, presets := *d, d.RemainingArgs()
	b := &block{lines.Parser{Dispenser: d, Head: head}, p, head.File()}
	p.File, p.places = filepath.Base(b.file), map[int]caddyfile.Dispenser{head.Line(): head}
	p.Presets = words.Map(presets, func(name string) managed.Preset { return managed.Preset{Name: name, Line: head.Line()} })
	err := b.Block(lines.Table{
		"deny": b.deny,
		"allow": func(name string, values []string) error {
			p.Allow = append(p.Allow, managed.Allow{Crawlers: values, Line: b.line()})
			return lines.List(&values)(name, values)
		},
		"signal": b.preferences(&p.Signal),
		"usage":  b.preferences(&p.Usage),
		"license": lines.One(func(_, url string) error {
			p.License = append(p.License, managed.License{URL: url, Line: b.line()})
			return nil
		}),
		"hidden": func(name string, values []string) error {
			for _, path := range values {
				p.Hidden = append(p.Hidden, managed.Hidden{Path: path, Line: b.line()})
			}
			return lines.List(&values)(name, values)
		},
	}, nil, "deny", "allow", "signal", "usage", "license", "hidden")
	if err != nil {
		return err
	}
	if !p.Publishes() && len(p.Hidden)+len(p.Allow)+len(p.Usage) == 0 {
		return lines.Place(&head, fmt.Errorf("policy has no rules: give %s, or a block with rules", strings.Join(managed.PresetNames(), " or ")))
	}
	return nil
}

// placed returns an error with the place of its statement, if that is known.
func (p *Policy) placed(err error) error {
	statement, ok := errors.AsType[*managed.StatementError](err)
	if !ok {
		return err
	}
	at, known := p.places[statement.Line]
	if !known {
		return err
	}
	return lines.Place(&at, errors.New("policy: "+statement.Message))
}

// block collects the statements of a policy.
type block struct {
	lines.Parser
	policy *Policy
	file   string // that has the policy
}

// line records and returns the number of the line. If another file has the
// statement, because it is imported, no one file has all lines.
func (b *block) line() int {
	line := b.Head.Line()
	b.policy.places[line] = b.Head
	if b.Head.File() != b.file {
		b.policy.File = ""
	}
	return line
}

func (b *block) deny(name string, values []string) error {
	deny := managed.Deny{Line: b.line()}
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
	return lines.List(&values)(name, values)
}

// preferences returns a parser of preferences that adds to a list.
func (b *block) preferences(list *[]managed.Preference) lines.Line {
	return func(name string, values []string) error {
		for _, v := range values {
			key, value, ok := strings.Cut(v, "=")
			if !ok {
				return fmt.Errorf("%s: %q is not key=value", name, v)
			}
			*list = append(*list, managed.Preference{Key: key, Value: strings.TrimSuffix(value, ","), Line: b.line()})
		}
		return lines.List(&values)(name, values)
	}
}
