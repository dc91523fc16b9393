package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/allsites"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/headers"
)

// Module is the part of the Caddy module that the commands use.
type Module interface {
	// ReadRegistry returns the crawlers of a registry file in addition to the
	// built-in ones.
	ReadRegistry(path string) (*crawler.Registry, error)
	// HeaderRules returns the x_robots_tag rules of all sites of a
	// configuration file: a Caddyfile, or JSON if its name ends in .json.
	HeaderRules(path string) ([]headers.Setting, error)
	// Sites returns the robots handlers of a configuration file.
	Sites(path string) ([]Site, error)
	// Config returns a configuration file as JSON.
	Config(path string) ([]byte, error)
}

// Site is a robots handler of a configuration file.
type Site struct {
	Hosts []string // hosts that its routes match; none: any
	Modes config.ModesOfHosts
	// Listen are the addresses of its server, separated by blanks, and Matcher
	// describes the other matchers of its routes; empty if there are none.
	Listen, Matcher string
	Unreached       bool // no request reaches it, because handlers before it answer all of them
	Rules           judge.Settings
	// Source is the source of its robots.txt, and SourceName the display name of the
	// source. Source is nil for source site: only the running server can read it.
	Source     origins.Source
	SourceName string
	// Inline says that the configuration itself has the robots.txt.
	Inline bool
	// Verification says what verify does, without a Checker; nil without verify.
	Verification *judge.Verification
	// Steps are those of the site with their settings, which are not set up.
	Steps []step.Step
	// Explainers are those of Steps.
	Explainers []statusapi.Explainer
	// Sampled says that a log of the configuration is sampled.
	Sampled bool
	// Routes are the sites of the configuration, also those without a robots handler.
	Routes []allsites.Site

	// Index is the number of the handler among those of the configuration, if a command
	// has set it.
	Index int
	// Number, from 1, and Of are the number of the handler among those of its site. They
	// are known only of handlers that were selected.
	Number, Of int
	// Server is Listen, if the handlers of the site are in different servers. It is known
	// only of handlers that were selected.
	Server string
}

// anySite is the name of the site that serves any host.
const anySite = "*"

// Name returns the name of the site for error messages.
func (s *Site) Name() string {
	if len(s.Hosts) == 0 {
		return anySite + " (any host)"
	}
	return strings.Join(s.Hosts, ", ")
}

// Describe describes the handler, if the site has several: "handler 1 of 2: path
// /api/*". It returns "" for the only handler of a site.
func (s *Site) Describe() string {
	if s.Of < 2 {
		return ""
	}
	text := fmt.Sprintf("handler %d of %d", s.Number, s.Of)
	if s.Server != "" {
		text += " at " + s.Server
	}
	if s.Matcher != "" {
		text += ": " + s.Matcher
	}
	return text
}

// BestFor returns the indexes of the sites that fit a host best.
func BestFor(sites []Site, host string) []int {
	return routes.BestFor(sites, func(s Site) []string { return s.Hosts }, host)
}

// ListensAt reports whether the server of the site listens at a port.
func (s *Site) ListensAt(port string) bool {
	return slices.ContainsFunc(strings.Fields(s.Listen), func(address string) bool { return strings.HasSuffix(address, ":"+port) })
}

// RootFile returns the path of the robots.txt that the site serves from its root
// folder. It returns "" if there is no such file, or if the site has several root folders.
func (s *Site) RootFile() string {
	root := ""
	for i := range s.Routes {
		switch r := &s.Routes[i]; {
		case !r.Robots || !slices.Equal(r.Hosts, s.Hosts) || r.Port != 0 && !s.ListensAt(strconv.FormatUint(uint64(r.Port), 10)):
		case !r.Files || r.Roots != 1 || strings.Contains(r.Root, "{") || root != "" && root != r.Root:
			return ""
		default:
			root = r.Root
		}
	}
	if root == "" {
		return ""
	}
	file := filepath.Join(root, "robots.txt")
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return file
}

// URL returns the URL of a host of the site, with the scheme and port of its server.
func (s *Site) URL(host string) string {
	i := slices.IndexFunc(s.Routes, func(r allsites.Site) bool { return s.ListensAt(strconv.FormatUint(uint64(r.Port), 10)) })
	if i < 0 {
		return new(allsites.Site).URL(host)
	}
	return s.Routes[i].URL(host)
}
