package config

import (
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/localfile"
)

// Bounds of Fleet. Requests wait for as long as the deadline.
const (
	maxInstances     = 10_000
	maxFleetDeadline = time.Second
)

// Fleet shares the budgets of several servers in Redis or Valkey.
//
// While Redis can't be reached, each server counts alone, with intervals that are
// `instances` times as long.
type Fleet struct {
	// `redis://[[user]:password@]host[:port][/database]`, `rediss://…` with TLS, or
	// `redis+unix:///path/to/socket`; `valkey`, `valkeys` and `valkey+unix` work too.
	// Query parameters: `addr=host:port`, for each further node of a cluster or
	// Sentinel; `master_set=name`, for Sentinels, with `sentinel_username` and
	// `sentinel_password`; `db=number`; `skip_verify=true`, to accept any TLS
	// certificate. Placeholders, such as `{env.REDIS_PASSWORD}`, are replaced. Required.
	URL string `json:"url,omitempty"`

	// A file with PEM certificates: with TLS, one of them must have signed the server's.
	// Default: those that the system trusts.
	CAFile string `json:"ca_file,omitempty"`

	// The number of servers, from 1 to 10000. Default: 1.
	Instances int `json:"instances,omitempty"`

	// How the keys begin. Servers with the same prefix share their budgets. In a cluster,
	// a part in braces (`{robots}:`) puts all keys on one master. Default: `robots:`.
	Prefix string `json:"prefix,omitempty"`

	// The longest time for which a request waits for one answer of Redis, from 1ms to
	// 1s. Default: 25ms.
	Deadline caddy.Duration `json:"deadline,omitempty"`
}

// check returns an error for values that can't be used. A nil f has none.
func (f *Fleet) check() error {
	switch {
	case f == nil:
		return nil
	case f.URL == "":
		return errors.New("fleet: the URL of Redis or Valkey is missing")
	case f.Instances < 0 || f.Instances > maxInstances:
		return fmt.Errorf("fleet instances %d is not between 1 and %d", f.Instances, maxInstances)
	case f.Deadline < 0 || time.Duration(f.Deadline) > maxFleetDeadline:
		return fmt.Errorf("fleet deadline %s is not between 1ms and %s", time.Duration(f.Deadline), maxFleetDeadline)
	}
	if _, tag, found := strings.Cut(f.Prefix, "{"); found && strings.Index(tag, "}") < 1 {
		return fmt.Errorf("fleet prefix %q has a { without a name and a } after it", f.Prefix)
	}
	if hasPlaceholder(f.URL) {
		return nil
	}
	_, _, err := f.parse()
	return err
}

// parse converts the settings to the limiter's, but does not read CAFile. id is
// the same for the same settings.
func (f *Fleet) parse() (c throttle.FleetConfig, id string, err error) {
	address, err := Resolve("fleet", f.URL)
	if err != nil {
		return c, "", err
	}
	c, err = throttle.ParseFleetURL(address)
	if err == nil && f.CAFile != "" && c.TLS == nil {
		err = errors.New("ca_file needs TLS: write rediss:// or valkeys://")
	}
	if err != nil {
		return c, "", InOption("fleet", err)
	}
	c.Prefix, c.Instances, c.Deadline = f.Prefix, f.Instances, time.Duration(f.Deadline)
	return c, fmt.Sprintf("%q %q %d %d", address, c.Prefix, c.Instances, c.Deadline), nil
}

// Config converts the settings to the limiter's, and reads CAFile. id is the same
// for the same settings: a changed password or certificate makes another one.
func (f *Fleet) Config() (c throttle.FleetConfig, id string, err error) {
	c, id, err = f.parse()
	if err != nil || f.CAFile == "" {
		return c, id, err
	}
	const option = "fleet ca_file"
	file, err := Resolve(option, f.CAFile)
	if err != nil {
		return c, "", err
	}
	pem, err := localfile.Read(file)
	if err != nil {
		return c, "", InOption(option, err)
	}
	if c.TLS.RootCAs = x509.NewCertPool(); !c.TLS.RootCAs.AppendCertsFromPEM(pem) {
		return c, "", InOption(option, fmt.Errorf("%s has no PEM certificate: want lines from -----BEGIN CERTIFICATE-----", file))
	}
	return c, fmt.Sprintf("%s %q", id, pem), nil
}

// fleet parses the block fleet.
func (p *parser) fleet(_, address string) error {
	f := &Fleet{URL: address}
	p.settings.Fleet = f
	return p.Block(lines.Table{
		"ca_file":   p.names("fleet ca_file", lines.Text(&f.CAFile)),
		"instances": lines.Number(&f.Instances, maxInstances),
		"prefix":    lines.Text(&f.Prefix),
		"deadline":  lines.Duration(&f.Deadline, time.Millisecond),
	}, f.check)
}
