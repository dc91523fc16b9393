package policy

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/internal/managed"
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
	head := *d
	if presets := d.RemainingArgs(); len(presets) > 0 {
		p.Presets = []managed.Statement{{Values: presets, Line: head.Line()}}
	}
	b := lines.Parser{Dispenser: d, Head: head}
	p.File, p.places = filepath.Base(head.File()), map[int]caddyfile.Dispenser{head.Line(): head}
	table := lines.Table{}
	for name, list := range map[string]*[]managed.Statement{
		"deny": &p.Deny, "allow": &p.Allow, "signal": &p.Signal, "usage": &p.Usage, "license": &p.License, "hidden": &p.Hidden,
	} {
		table[name] = func(name string, values []string) error {
			s := managed.Statement{Line: b.Head.Line()}
			for _, v := range values {
				switch isPath := strings.HasPrefix(v, "/") || strings.HasPrefix(v, "*"); {
				case isPath:
					s.Paths = append(s.Paths, v)
				case name == "deny" && len(s.Paths) > 0:
					return fmt.Errorf("%s: %q comes after a path: write purposes and crawlers before the paths", name, v)
				default:
					s.Values = append(s.Values, strings.TrimSuffix(v, ",")) // as in the line of robots.txt
				}
			}
			*list = append(*list, s)
			p.places[s.Line] = b.Head
			if b.Head.File() != head.File() { // an imported statement: no one file has all lines
				p.File = ""
			}
			return lines.List(&values)(name, values)
		}
	}
	if err := b.Block(table, nil, slices.Collect(maps.Keys(table))...); err != nil {
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
