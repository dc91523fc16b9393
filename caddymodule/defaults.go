package caddymodule

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// switchable are the settings that Handler.Off can name, by their JSON names.
// Each other setting has a value that switches it off.
var switchable = []string{"answers", "exempt", "fleet", "paths", "policy", "registry", "suspects", "verify", "x_robots_tag"}

// withDefaults replaces the zero fields of the settings with the defaults, but
// for those in h.Off.
func (h *Handler) withDefaults(defaults *Settings) {
	if defaults == nil {
		return
	}
	to, from := reflect.ValueOf(&h.Settings).Elem(), reflect.ValueOf(defaults).Elem()
	for i := range to.NumField() {
		if to.Field(i).IsZero() && !slices.Contains(h.Off, settingName(i)) {
			to.Field(i).Set(from.Field(i))
		}
	}
}

// settingName returns the JSON name of a field of Settings.
func settingName(field int) string {
	name, _, _ := strings.Cut(reflect.TypeFor[Settings]().Field(field).Tag.Get("json"), ",")
	return name
}

// checkOff checks h.Off. Call it before withDefaults.
func (h *Handler) checkOff() error {
	settings := reflect.ValueOf(&h.Settings).Elem()
	for _, name := range h.Off {
		if !slices.Contains(switchable, name) {
			return fmt.Errorf("off: %q is not one of %s", name, strings.Join(switchable, ", "))
		}
		for i := range settings.NumField() {
			if settingName(i) == name && !settings.Field(i).IsZero() {
				return fmt.Errorf("%s is off, and is also given", name)
			}
		}
	}
	return nil
}

// orOff returns a parser for a subdirective that also takes the only value off.
func orOff(setting string, parse subdirective) subdirective {
	return func(h *Handler, d *caddyfile.Dispenser) error {
		ahead := *d
		if args := ahead.RemainingArgs(); len(args) != 1 || args[0] != "off" || ahead.NextBlock(ahead.Nesting()) {
			return parse(h, d)
		}
		name := d.Val()
		d.NextArg()
		if h.global {
			return d.Errf("%s off: remove the line, because %s is off by default", name, name)
		}
		if slices.Contains(h.Off, setting) {
			return d.Errf("%s off is given twice", name)
		}
		h.Off = append(h.Off, setting)
		return nil
	}
}

// checkDefaultNames returns an error if an exempt crawler of the global option is
// not known here, because the crawler blocks of the site replace those of the
// global option.
func (h *Handler) checkDefaultNames() error {
	if h.defaults == nil || h.Crawlers == nil || h.Exempt != nil || slices.Contains(h.Off, "exempt") {
		return nil
	}
	registry, complete := h.knownRegistry()
	if err := checkExempt(h.defaults.Exempt, registry); err != nil && complete {
		return fmt.Errorf("the crawler blocks of this site replace all of those of the global option robots, and the global %w. "+
			"Repeat the global crawler block here, or write exempt off", err)
	}
	return nil
}

// knownRegistry returns the crawlers that are known while a Caddyfile is parsed:
// the built-in ones, and those in the Caddyfile. complete is false if more are
// known when the configuration is loaded.
func (h *Handler) knownRegistry() (registry *crawler.Registry, complete bool) {
	s := &Handler{Settings: h.Settings, Off: h.Off}
	s.withDefaults(h.defaults)
	registry, err := withCrawlers(crawler.Builtin(), s.Crawlers)
	if err != nil {
		return crawler.Builtin(), false // the parser of the crawler block reports it
	}
	return registry, s.Registry == ""
}
