package caddymodule

import (
	"encoding/json"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/dustin/go-humanize"
)

func init() {
	httpcaddyfile.RegisterGlobalOption("robots", parseGlobalOption)
}

// globalLines are the lines that only the global option robots has.
var globalLines = []string{"max_memory", "persist", "metrics"}

// parseGlobalOption makes an App from the global option robots. The comment on
// App has the syntax.
func parseGlobalOption(d *caddyfile.Dispenser, existing any) (any, error) {
	d.Next() // the option's name
	if existing != nil {
		return nil, d.Err("the global option robots is given twice")
	}
	if d.NextArg() {
		return nil, d.Errf("unexpected %q: write the options of robots in a block", d.Val())
	}
	app, defaults := new(App), &Handler{global: true}
	table := map[string]subdirective{
		"max_memory": func(_ *Handler, d *caddyfile.Dispenser) error { return parseMaxMemory(app, d) },
		"persist":    func(_ *Handler, d *caddyfile.Dispenser) error { return parsePersist(app, d) },
		"metrics":    func(_ *Handler, d *caddyfile.Dispenser) error { return parseMetrics(app, d) },
	}
	for name, parse := range subdirectives {
		table[name] = parse
	}
	if err := parseBlock(defaults, d, table); err != nil {
		return nil, err
	}
	if err := defaults.check(d); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(&defaults.Settings)
	if err != nil {
		return nil, err
	}
	if string(raw) != "{}" {
		app.Defaults = &defaults.Settings
	}
	return httpcaddyfile.App{Name: "robots", Value: caddyconfig.JSON(app, nil)}, nil
}

// leastMemory is the least value of max_memory in a Caddyfile, in octets: the
// size of one compiled file of the largest size that is read.
const leastMemory = 16 << 20

// parseMaxMemory parses
//
//	max_memory <size>
func parseMaxMemory(app *App, d *caddyfile.Dispenser) error {
	arg, err := one(d)
	if err != nil {
		return err
	}
	size, err := humanize.ParseBytes(arg)
	if err != nil || size < leastMemory || size > 1<<40 {
		return d.Errf("max_memory: %q is not a size from 16MiB to 1TiB: write it as 64MiB", arg)
	}
	app.MaxMemory = int64(size)
	return nil
}
