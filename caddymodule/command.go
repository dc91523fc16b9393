package caddymodule

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/headers"
)

func init() {
	cli.Register(commands{})
}

// commands implements cli.Module.
type commands struct{}

// ReadRegistry implements cli.Module.
func (commands) ReadRegistry(path string) (*crawler.Registry, error) {
	if isRegistryURL(path) {
		return readRegistryURL(path)
	}
	return (&registryFile{path: path}).read(nil)
}

// HeaderRules implements cli.Module.
func (commands) HeaderRules(path string) ([]headers.Setting, error) {
	handlers, err := handlersOf(path)
	if err != nil {
		return nil, err
	}
	var rules []headers.Setting
	for _, h := range handlers {
		rules = append(rules, h.XRobotsTag...)
	}
	return rules, nil
}

// handlersOf returns the robots handlers of a configuration file: JSON if its
// name ends in .json, otherwise a Caddyfile.
func handlersOf(name string) ([]*Handler, error) {
	tree, err := configOf(name)
	if err != nil {
		return nil, err
	}
	var found []*Handler
	err = walkSites(tree, routePlace{}, func(_ routePlace, object map[string]any) error {
		h := new(Handler)
		if err := unmarshalTree(object, h); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		found = append(found, h)
		return nil
	})
	return found, err
}

// Config implements cli.Module.
func (commands) Config(name string) ([]byte, error) {
	config, err := os.ReadFile(name)
	if err != nil || strings.HasSuffix(name, ".json") {
		return config, err
	}
	config, _, err = caddyconfig.GetAdapter("caddyfile").Adapt(config, map[string]any{"filename": name})
	return config, err
}

// configOf reads a configuration file: JSON if its name ends in .json, otherwise
// a Caddyfile.
func configOf(name string) (tree any, err error) {
	config, err := commands{}.Config(name)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(config, &tree); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return tree, nil
}
