package proposal

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/caddyserver/caddy/v2"
)

// config is the part of Caddy's configuration that this package reads.
type config struct {
	Apps struct {
		HTTP httpApp `json:"http"`
	} `json:"apps"`
}

type httpApp struct {
	HTTPPort  uint              `json:"http_port"`
	HTTPSPort uint              `json:"https_port"`
	Servers   map[string]server `json:"servers"`
}

type server struct {
	Listen         []string          `json:"listen"`
	Routes         []route           `json:"routes"`
	TrustedProxies json.RawMessage   `json:"trusted_proxies"`
	TLS            []json.RawMessage `json:"tls_connection_policies"`
	AutomaticHTTPS struct {
		Disabled bool     `json:"disable"`
		Skip     []string `json:"skip"`
	} `json:"automatic_https"`
}

// isPlain reports whether a server listens without TLS. TLS is on if the server
// has a connection policy or if automatic HTTPS turns it on: on the HTTPS port,
// or for a host that the configuration does not exempt.
func (a *httpApp) isPlain(s *server) bool {
	ports := s.ports()
	all := func(want uint) bool {
		return len(ports) > 0 && !slices.ContainsFunc(ports, func(port uint) bool { return port != want })
	}
	switch {
	case len(s.TLS) > 0:
		return false
	case s.AutomaticHTTPS.Disabled, all(cmp.Or(a.HTTPPort, 80)):
		return true
	case all(cmp.Or(a.HTTPSPort, 443)):
		return false
	}
	for _, r := range s.Routes {
		if slices.ContainsFunc(hosts(r.Match), func(h string) bool { return !slices.Contains(s.AutomaticHTTPS.Skip, h) }) {
			return false
		}
	}
	return true
}

// port returns the first TCP port of a server, 0 if it has none.
func (s *server) port() uint {
	if ports := s.ports(); len(ports) > 0 {
		return ports[0]
	}
	return 0
}

// ports returns the TCP ports on which a server listens. Of a range, it returns
// the first one.
func (s *server) ports() (ports []uint) {
	for _, listen := range s.Listen {
		if address, err := caddy.ParseNetworkAddress(listen); err == nil && address.StartPort > 0 && !address.IsUnixNetwork() {
			ports = append(ports, address.StartPort)
		}
	}
	return ports
}
