package caddymodule

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/editdistance"
)

// parseBlock parses the lines of a block. The table has a parser for the first
// word of each line.
func parseBlock(h *Handler, d *caddyfile.Dispenser, table map[string]subdirective) error {
	seen := make(map[string]bool)
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		name := d.Val()
		parse, ok := table[name]
		if !ok && slices.Contains(globalLines, name) {
			return d.Errf("%s is for the whole process: write it in the global option robots, at the top of the Caddyfile", name)
		}
		if !ok {
			return d.Errf("unknown subdirective %q%s", name, nearest(name, table))
		}
		if seen[name] && !repeatable[name] {
			return d.Errf("%s is given twice", name)
		}
		seen[name] = true
		if err := parse(h, d); err != nil {
			return err
		}
	}
	return nil
}

// one returns the only argument of a subdirective.
func one(d *caddyfile.Dispenser) (string, error) {
	name := d.Val()
	args := d.RemainingArgs()
	if len(args) != 1 {
		return "", d.Errf("%s takes one value, not %d", name, len(args))
	}
	return args[0], nil
}

func duration(field func(*Handler) *caddy.Duration, least time.Duration) subdirective {
	return func(h *Handler, d *caddyfile.Dispenser) error {
		name := d.Val()
		arg, err := one(d)
		if err != nil {
			return err
		}
		v, err := caddy.ParseDuration(arg)
		if err != nil {
			return d.Errf("%s: %q is not a duration: write it as 30s, 5m or 1h", name, arg)
		}
		if v < least {
			return d.Errf("%s: %s is below %s", name, v, least)
		}
		*field(h) = caddy.Duration(v)
		return nil
	}
}

func number(field func(*Handler) *int, least, most int) subdirective {
	return func(h *Handler, d *caddyfile.Dispenser) error {
		name := d.Val()
		arg, err := one(d)
		if err != nil {
			return err
		}
		v, err := strconv.Atoi(arg)
		if err != nil || v < least || v > most {
			return d.Errf("%s: %q is not a whole number from %d to %d", name, arg, least, most)
		}
		*field(h) = v
		return nil
	}
}

func choice(field func(*Handler) *string, allowed ...string) subdirective {
	return func(h *Handler, d *caddyfile.Dispenser) error {
		name := d.Val()
		arg, err := one(d)
		if err != nil {
			return err
		}
		if arg == "" {
			return d.Errf("%s: want %s", name, strings.Join(allowed, " or "))
		}
		if err := oneOf(name, arg, append([]string{allowed[0]}, allowed...)...); err != nil {
			return d.WrapErr(err)
		}
		*field(h) = arg
		return nil
	}
}

// text parses one value that is not empty.
func text(field func(*Handler) *string) subdirective {
	return func(h *Handler, d *caddyfile.Dispenser) error {
		name := d.Val()
		arg, err := one(d)
		if err != nil {
			return err
		}
		if arg == "" {
			return d.Errf("%s: the value is empty", name)
		}
		*field(h) = arg
		return nil
	}
}

// onOff parses on or off; no argument means on.
func onOff(d *caddyfile.Dispenser) (bool, error) {
	name := d.Val()
	switch args := d.RemainingArgs(); {
	case len(args) == 0 || len(args) == 1 && args[0] == "on":
		return true, nil
	case len(args) == 1 && args[0] == "off":
		return false, nil
	default:
		return false, d.Errf("%s %q: want on or off", name, strings.Join(args, " "))
	}
}

func onOffField(field func(*Handler) **bool) subdirective {
	return func(h *Handler, d *caddyfile.Dispenser) error {
		on, err := onOff(d)
		*field(h) = &on
		return err
	}
}

func words(field func(*Handler) *[]string, check func(string) error) subdirective {
	return func(h *Handler, d *caddyfile.Dispenser) error {
		name := d.Val()
		args := d.RemainingArgs()
		if len(args) == 0 {
			return d.Errf("%s needs at least one value", name)
		}
		for _, a := range args {
			if a == "" {
				return d.Errf("%s: a value is empty", name)
			}
			if check == nil {
				continue
			}
			if err := check(a); err != nil {
				return d.Errf("%s: %v", name, err)
			}
		}
		*field(h) = args
		return nil
	}
}

// nearest returns a suggestion for a misspelt subdirective, or "".
func nearest(name string, table map[string]subdirective) string {
	const longest = 40 // no name is longer; the cost is quadratic
	if len(name) > longest {
		return ""
	}
	best := editdistance.Nearest(name, slices.Values(slices.Sorted(maps.Keys(table))), 2)
	if best == "" {
		return ""
	}
	return ": did you mean " + best + "?"
}

// nearestCrawler returns a suggestion for a misspelt crawler, or "".
func nearestCrawler(name string, registry *crawler.Registry) string {
	const longest = 40
	if len(name) > longest {
		return ""
	}
	best, distance := "", 4
	for row := range registry.All() {
		for _, known := range append(row.Tokens(), row.Name) {
			if n := editdistance.Between(strings.ToLower(name), strings.ToLower(known)); n < distance {
				best, distance = known, n
			}
		}
	}
	if best == "" {
		return ""
	}
	return ": did you mean " + best + "?"
}
