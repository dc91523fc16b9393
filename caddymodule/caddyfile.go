package caddymodule

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/robots"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("robots", parseCaddyfile)
	httpcaddyfile.RegisterDirectiveOrder("robots", httpcaddyfile.After, "header")
}

// parseCaddyfile makes a Handler from the directive robots.
func parseCaddyfile(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	handler := new(Handler)
	if global, ok := h.Option("robots").(httpcaddyfile.App); ok {
		var app App
		if err := json.Unmarshal(global.Value, &app); err != nil {
			return nil, err
		}
		handler.defaults = app.Defaults
	}
	if err := handler.UnmarshalCaddyfile(h.Dispenser); err != nil {
		return nil, err
	}
	return handler, nil
}

// subdirective parses the arguments and the block of a subdirective.
type subdirective func(*Handler, *caddyfile.Dispenser) error

// subdirectives has the parser of each subdirective. It is filled by init,
// because the parsers use it for their error messages.
var subdirectives map[string]subdirective

// repeatable has the subdirectives that are allowed several times in a block.
var repeatable = map[string]bool{
	"x_robots_tag": true, "crawler": true, "answer": true, "exempt": true, "verify": true,
	"deny": true, "allow": true, "delay": true, "signal": true, "usage": true, "license": true, "hidden": true, // of policy
}

func init() {
	subdirectives = map[string]subdirective{
		"source":         parseSource,
		"refresh":        duration(func(h *Handler) *caddy.Duration { return &h.Refresh }, time.Second),
		"on_error":       choice(func(h *Handler) *string { return &h.OnError }, onErrorKeep, onErrorDeny),
		"max_origins":    number(func(h *Handler) *int { return &h.MaxOrigins }, 1, 1_000_000),
		"publish":        onOffField(func(h *Handler) **bool { return &h.Publish }),
		"mode":           choice(func(h *Handler) *string { return &h.Mode }, modeEnforce, modeMonitor),
		"dialect":        parseDialect,
		"exempt":         orOff("exempt", parseExempt),
		"exempt_paths":   words(func(h *Handler) *[]string { return &h.ExemptPaths }, enforce.CheckPathPattern),
		"http_clients":   onOffField(func(h *Handler) **bool { return &h.HTTPClients }),
		"programs":       choice(func(h *Handler) *string { return &h.Programs }, enforce.ProgramsOff.String(), enforce.ProgramsSeen.String(), enforce.ProgramsOn.String()),
		"user_triggered": onOffField(func(h *Handler) **bool { return &h.UserTriggered }),
		"strict":         onOffField(func(h *Handler) **bool { return &h.Strict }),
		"forwarded_host": onOffField(func(h *Handler) **bool { return &h.ForwardedHost }),
		"crawler":        parseCrawler,
		"registry":       orOff("registry", parseRegistry),
		"policy":         orOff("policy", parsePolicy),
		"grace":          choice(func(h *Handler) *string { return &h.Grace }, enforce.GraceSearch.String(), enforce.GraceOff.String(), enforce.GraceAll.String()),
		"answer":         orOff("answers", parseAnswer),
		"paths":          orOff("paths", parsePaths),
		"crawl_delay":    parseCrawlDelay,
		"fleet":          orOff("fleet", parseFleet),
		"verify":         orOff("verify", parseVerify),
		"suspects":       orOff("suspects", parseSuspects),
		"x_robots_tag":   orOff("x_robots_tag", parseXRobotsTag),
		"noindex_lines":  onOffField(func(h *Handler) **bool { return &h.NoindexLines }),
		"meta_robots":    onOffField(func(h *Handler) **bool { return &h.MetaRobots }),
		"signals":        onOffField(func(h *Handler) **bool { return &h.Signals }),
	}
}

// UnmarshalCaddyfile sets up the handler. Syntax:
//
//	robots [<matcher>] {
//		source         site | file <path> | inline <text> | url <url>
//		refresh        <duration>
//		on_error       last_good | deny
//		max_origins    <number>
//		publish        [on|off]
//		mode           enforce | monitor
//		dialect        rfc9309 | 1994 | 1996
//		exempt         <crawlers...> [from <CIDR...>]
//		exempt_paths   <patterns...>
//		http_clients   [on|off]
//		programs       off | seen | on
//		user_triggered [on|off]
//		strict         [on|off]
//		forwarded_host [on|off]
//		crawler <name> {
//			user_agents <tokens...>
//			robots      <tokens...>
//			operator    <name>
//			purpose     <purpose>
//			class       crawler | user-triggered | scraper | webhook | library
//			run_by      operator | anyone
//			star        yes | no
//			crawl_delay yes | no
//			verify      lists <urls...> | dns <suffixes...> | signatures <urls...> | none
//		}
//		registry       <file> | <url>
//		policy [no-training | no-ai] {
//			deny    <purposes and crawlers...> [<paths...>]
//			allow   <crawlers...>
//			delay   <purposes and crawlers...> <duration>
//			signal  <key>=<value>...
//			usage   <key>=<value>...
//			license <url>
//			hidden  <paths...>
//		}
//		grace          off | search | all
//		answer         <verdict> <status> [<text>] | redir <url> | abort
//		paths          ignore_case | strip_params | decode_twice ...
//		crawl_delay {
//			max   <duration>
//			wait  <duration>
//			burst <number>
//			per   crawler | ip
//			max_entries <number>
//		}
//		fleet <url> {
//			instances <number>
//			prefix    <text>
//			deadline  <duration>
//		}
//		verify {
//			impostors  deny | ignore
//			resolver   <address>
//			lists      [on|off]
//			dns        [on|off]
//			signatures [on|off]
//		}
//		suspects {
//			trap   <paths...>
//			action observe | bind
//			for    <duration>
//		}
//		x_robots_tag   [not] <pattern> [<crawler>: [only]] <directives...>
//		noindex_lines  [on|off]
//		meta_robots    [on|off]
//		signals        [on|off]
//	}
//
// For answer, exempt, fleet, paths, policy, registry, suspects, verify and
// x_robots_tag, the only value off means that the handler does not use the
// default of the global option.
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the directive's name
	if d.NextArg() {
		return d.Errf("unexpected %q: write the options of robots in a block", d.Val())
	}
	if err := parseBlock(h, d, subdirectives); err != nil {
		return err
	}
	return h.check(d)
}

// check runs the checks that need the whole block.
func (h *Handler) check(d *caddyfile.Dispenser) error {
	for _, check := range h.later {
		if err := check(); err != nil {
			return err
		}
	}
	h.later = nil
	if err := errors.Join(h.checkOff(), h.checkDefaultNames(), h.validate()); err != nil {
		return d.WrapErr(err)
	}
	return nil
}

func parseDialect(h *Handler, d *caddyfile.Dispenser) error {
	arg, err := one(d)
	if err != nil {
		return err
	}
	if _, err := robots.ParseDialect(arg); err != nil {
		return d.Errf("dialect: %v", err)
	}
	h.Dialect = arg
	return nil
}

func parseSource(h *Handler, d *caddyfile.Dispenser) error {
	args := d.RemainingArgs()
	if len(args) == 0 {
		return d.Err("source: want site, file PATH, inline TEXT or url URL")
	}
	s := &Source{Kind: args[0]}
	values := map[string]*string{sourceFile: &s.Path, sourceInline: &s.Text, sourceURL: &s.URL}
	switch value, takes := values[s.Kind]; {
	case s.Kind == sourceSite:
		if len(args) != 1 {
			return d.Err("source site takes no value")
		}
	case !takes:
		return d.Errf("source %q: want site, file, inline or url", s.Kind)
	case len(args) != 2 || args[1] == "":
		return d.Errf("source %s takes one value, not %d", s.Kind, len(args)-1)
	default:
		*value = args[1]
	}
	h.Source = s
	return checkSource(s, d)
}

// checkSource checks a URL here, so that the error names the line in the
// Caddyfile. It reads no files and uses no network.
func checkSource(s *Source, d *caddyfile.Dispenser) error {
	if s.Kind == sourceURL && !strings.Contains(s.URL, "{") { // not a placeholder
		if _, err := enforce.NewURL(s.URL); err != nil {
			return d.Errf("source url: %v", err)
		}
	}
	return nil
}

func parsePaths(h *Handler, d *caddyfile.Dispenser) error {
	args := d.RemainingArgs()
	if len(args) == 0 {
		return d.Err("paths: want ignore_case, strip_params or decode_twice")
	}
	p := new(Paths)
	fields := map[string]*bool{"ignore_case": &p.IgnoreCase, "strip_params": &p.StripParams, "decode_twice": &p.DecodeTwice}
	for _, a := range args {
		f, ok := fields[a]
		if !ok {
			return d.Errf("paths %q: want ignore_case, strip_params or decode_twice", a)
		}
		*f = true
	}
	h.Paths = p
	return nil
}

func parseCrawlDelay(h *Handler, d *caddyfile.Dispenser) error {
	if d.NextArg() {
		return d.Errf("crawl_delay: unexpected %q: write its options in a block", d.Val())
	}
	c := new(CrawlDelay)
	h.CrawlDelay = c
	return parseBlock(h, d, map[string]subdirective{
		"max":         duration(func(*Handler) *caddy.Duration { return &c.Max }, time.Millisecond),
		"wait":        withCheck(duration(func(*Handler) *caddy.Duration { return &c.Wait }, 0), c.validate),
		"burst":       number(func(*Handler) *int { return &c.Burst }, 1, maxBurst),
		"max_entries": number(func(*Handler) *int { return &c.MaxEntries }, 1, mostEntries),
		"per":         choice(func(*Handler) *string { return &c.Per }, countByCrawler, countByIP),
	})
}

func parseXRobotsTag(h *Handler, d *caddyfile.Dispenser) error {
	rule, err := headers.ParseSetting(d.RemainingArgs())
	if err != nil {
		return d.Errf("x_robots_tag: %v", err)
	}
	h.XRobotsTag = append(h.XRobotsTag, rule)
	return nil
}

// Interface guard
var _ caddyfile.Unmarshaler = (*Handler)(nil)
