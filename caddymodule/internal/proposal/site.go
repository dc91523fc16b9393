package proposal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
)

// Site is one site of a configuration: a route of a server, for a set of hosts.
type Site struct {
	Hosts []string // hosts and wildcards of its address; none: any host

	Root     string   // folder of its files, the first if it has several; "" if it has none
	Roots    int      // number of the folders
	Backends []string // addresses to which it forwards requests
	PHP      bool     // it forwards requests over FastCGI

	Robots         bool // it has a robots handler
	TrustedProxies bool // its server has trusted_proxies
	Plain          bool // its server listens without TLS
	Port           uint // on which its server listens; 0 if it listens on no TCP port

	AgentMatchers []string // patterns of its matchers for User-Agent
	Tags          []string // values of X-Robots-Tag that its header handlers set
}

// Open reports whether the site serves hosts that its address does not name: any
// host, or those of a wildcard.
func (s *Site) Open() bool {
	return len(s.Hosts) == 0 || slices.ContainsFunc(s.Hosts, func(h string) bool { return strings.Contains(h, "*") })
}

// Breadth returns how broadly the site's address matches a host that it serves: 0 if
// it names the host, 1 if it has a wildcard for it, 2 if it is for any host.
func (s *Site) Breadth(host string) int {
	switch {
	case len(s.Hosts) == 0:
		return 2
	case slices.ContainsFunc(s.Hosts, func(h string) bool { return strings.EqualFold(h, host) }):
		return 0
	}
	return 1
}

// Host returns a host that the site serves: the first one that its address names
// without a wildcard. If there is none, it returns localhost for a site that
// serves any host, and else a host that a wildcard matches.
func (s *Site) Host() string {
	for _, h := range s.Hosts {
		if !strings.ContainsAny(h, "*{") {
			return h
		}
	}
	for _, h := range s.Hosts {
		if !strings.Contains(h, "{") {
			return strings.ReplaceAll(h, "*", "www")
		}
	}
	return "localhost"
}

// URL returns the URL of a host that the site serves, with the scheme and port of
// the site's server.
func (s *Site) URL(host string) string {
	scheme, standard := "https", uint(443)
	if s.Plain {
		scheme, standard = "http", 80
	}
	switch {
	case s.Port != 0 && s.Port != standard:
		host = net.JoinHostPort(host, strconv.FormatUint(uint64(s.Port), 10))
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return scheme + "://" + host
}

// Name returns the hosts of the site's address.
func (s *Site) Name() string {
	if len(s.Hosts) == 0 {
		return "all hosts"
	}
	return strings.Join(s.Hosts, ", ")
}

type route struct {
	Match  []map[string]json.RawMessage `json:"match"`
	Handle []handler                    `json:"handle"`
}

type handler struct {
	Name      string  `json:"handler"`
	Root      string  `json:"root"` // of file_server, and of vars
	Routes    []route `json:"routes"`
	Upstreams []struct {
		Dial string `json:"dial"`
	} `json:"upstreams"`
	Transport struct {
		Protocol string `json:"protocol"`
	} `json:"transport"`
	Response *struct {
		Set map[string][]string `json:"set"`
		Add map[string][]string `json:"add"`
	} `json:"response"`
}

// Read returns the sites of a configuration in JSON: one for each route of each
// server. They are ordered by the name of the server, and then as in the
// configuration.
func Read(adapted []byte) ([]Site, error) {
	var c config
	if err := json.Unmarshal(adapted, &c); err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	var sites []Site
	for _, name := range slices.Sorted(maps.Keys(c.Apps.HTTP.Servers)) {
		srv := c.Apps.HTTP.Servers[name]
		plain, port := c.Apps.HTTP.isPlain(&srv), srv.port()
		for i := range srv.Routes {
			s := Site{Hosts: hosts(srv.Routes[i].Match), TrustedProxies: len(srv.TrustedProxies) > 0, Plain: plain, Port: port}
			s.readRoute(&srv.Routes[i])
			sites = append(sites, s)
		}
	}
	return sites, nil
}

// hosts returns the hosts of matchers.
func hosts(match []map[string]json.RawMessage) (all []string) {
	for _, set := range match {
		var list []string
		if json.Unmarshal(set["host"], &list) == nil {
			all = append(all, list...)
		}
	}
	return all
}

func (s *Site) readRoute(r *route) {
	for _, set := range r.Match {
		for _, name := range slices.Sorted(maps.Keys(set)) {
			s.AgentMatchers = append(s.AgentMatchers, agentPatterns(name, set[name])...)
		}
	}
	for i := range r.Handle {
		s.readHandler(&r.Handle[i])
	}
}

func (s *Site) readHandler(h *handler) {
	switch h.Name {
	case "robots":
		s.Robots = true
	case "vars", "file_server":
		if h.Root != "" && h.Root != s.Root {
			s.Root, s.Roots = cmp.Or(s.Root, h.Root), s.Roots+1
		}
	case "reverse_proxy":
		s.PHP = s.PHP || h.Transport.Protocol == "fastcgi"
		for _, u := range h.Upstreams {
			s.Backends = append(s.Backends, u.Dial)
		}
	}
	if h.Response != nil {
		for _, fields := range []map[string][]string{h.Response.Set, h.Response.Add} {
			for name, values := range fields {
				if strings.EqualFold(name, "X-Robots-Tag") {
					s.Tags = append(s.Tags, values...)
				}
			}
		}
	}
	for i := range h.Routes {
		s.readRoute(&h.Routes[i])
	}
}

// agentPatterns returns the patterns that a matcher compares with User-Agent.
func agentPatterns(name string, matcher json.RawMessage) (patterns []string) {
	switch name {
	case "header":
		var fields map[string][]string
		_ = json.Unmarshal(matcher, &fields)
		for field, values := range fields {
			if strings.EqualFold(field, "User-Agent") {
				patterns = append(patterns, values...)
			}
		}
	case "header_regexp":
		var fields map[string]struct {
			Pattern string `json:"pattern"`
		}
		_ = json.Unmarshal(matcher, &fields)
		for field, value := range fields {
			if strings.EqualFold(field, "User-Agent") {
				patterns = append(patterns, value.Pattern)
			}
		}
	case "expression":
		var expression struct {
			Expr string `json:"expr"`
		}
		if json.Unmarshal(matcher, &expression) != nil {
			_ = json.Unmarshal(matcher, &expression.Expr)
		}
		if strings.Contains(strings.ToLower(expression.Expr), "user-agent") {
			patterns = append(patterns, expression.Expr)
		}
	case "not":
		var sets []map[string]json.RawMessage
		_ = json.Unmarshal(matcher, &sets)
		for _, set := range sets {
			for _, name := range slices.Sorted(maps.Keys(set)) {
				patterns = append(patterns, agentPatterns(name, set[name])...)
			}
		}
	}
	return patterns
}
