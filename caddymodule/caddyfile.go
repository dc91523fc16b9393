package caddymodule

import (
	"encoding/json"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("robots", parseCaddyfile)
	httpcaddyfile.RegisterDirectiveOrder("robots", httpcaddyfile.After, "header")
	httpcaddyfile.RegisterGlobalOption("robots", parseGlobalOption)
}

// parseCaddyfile makes a Handler from the directive robots.
func parseCaddyfile(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	var global config.Global
	if app, ok := h.Option("robots").(httpcaddyfile.App); ok {
		if err := json.Unmarshal(app.Value, &global); err != nil {
			return nil, err
		}
	}
	handler := new(Handler)
	return handler, handler.parse(h.Dispenser, global.Defaults)
}

// UnmarshalCaddyfile sets up the handler. Syntax:
//
//	robots [<matcher>] {
//		source         site | file <path> | inline <text> | url <url>
//		refresh        <duration>
//		on_error       last_good | deny
//		max_origins    <number>
//		publish        [on|off]
//		mode           enforce
//		mode           monitor [{
//			enforce <purposes and crawlers...>
//		}]
//		host           <hosts and patterns...> off | monitor | enforce
//		dialect        rfc9309 | 1994 | 1996
//		exempt         <crawlers...> [from <CIDR...>]
//		exempt_paths   <patterns...>
//		http_clients   [on|off]
//		programs       off | on
//		user_triggered [on|off]
//		strict         [on|off]
//		forwarded_host [on|off]
//		forwarded_request off | x_forwarded | x_original
//		crawler <name> {
//			user_agents <tokens...>
//			robots      <tokens...>
//			operator    <name>
//			purpose     <purposes...>
//			class       crawler | user-triggered | scraper | webhook | probe | program | library
//			run_by      operator | anyone
//			star        yes | no
//			crawl_delay yes | no
//			verify      lists <urls...> | dns <suffixes...> | signatures <urls...> | none
//		}
//		registry       <file> | <url>
//		answer         <verdict> <status> [<text>] | redir <url> | abort
//		answer         challenge <file> | mark
//		paths          [ignore_case] [strip_params] [decode_twice]
//		crawl_delay {
//			max   <duration>
//			burst <number>
//			per   crawler | ip
//			max_entries <number>
//		}
//		fleet <url> {
//			instances <number>
//			prefix    <text>
//			deadline  <duration>
//		}
//		x_robots_tag   [not] <pattern> [<crawler>: [only]] <directives...>
//		noindex_lines  [on|off]
//		signals        [on|off]
//		# and the lines of steps, such as shed
//	}
//
// For answer, exempt, fleet, host, paths, registry, x_robots_tag and steps, the only value off means that the handler does not use the
// default of the global option. The comments of config.Settings say what the lines mean.
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error { return h.parse(d, nil) }

// parse is UnmarshalCaddyfile with the defaults of the global option.
func (h *Handler) parse(d *caddyfile.Dispenser, defaults *config.Settings) (err error) {
	h.Settings, err = config.Parse(d, defaults)
	return err
}

// parseGlobalOption makes an App from the global option robots. The comment on
// App has the syntax.
func parseGlobalOption(d *caddyfile.Dispenser, existing any) (any, error) {
	if existing != nil {
		d.Next() // the option's name
		return nil, d.Err("the global option robots is given twice")
	}
	global, err := config.ParseGlobal(d)
	if err != nil {
		return nil, err
	}
	return httpcaddyfile.App{Name: "robots", Value: caddyconfig.JSON(global, nil)}, nil
}

// Interface guard
var _ caddyfile.Unmarshaler = (*Handler)(nil)
