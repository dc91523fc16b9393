package throttle

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Defaults of a FleetConfig.
const (
	DefaultFleetDeadline = 25 * time.Millisecond
	DefaultFleetPrefix   = "robots:"
)

// FleetConfig is how a Fleet reaches its server, Redis or Valkey 6 or later.
type FleetConfig struct {
	// Addresses are host:port of the server, of some nodes of a cluster, or
	// of some Sentinels. One that starts with / is a Unix socket.
	Addresses []string

	Username, Password string
	Database           int

	// TLS is set for connections with TLS.
	TLS *tls.Config

	// MasterSet is the name under which Sentinels know the server. It is
	// empty without Sentinels.
	MasterSet                          string
	SentinelUsername, SentinelPassword string

	// Prefix is what the keys in the server begin with. Empty:
	// DefaultFleetPrefix.
	Prefix string

	// Instances is how many processes share the server, at least 1. While the
	// server is away each multiplies its intervals by it.
	Instances int

	// Deadline is the longest time for which a request waits for the server.
	// Zero: DefaultFleetDeadline.
	Deadline time.Duration

	// injected makes the server's script take its time from Take's now.
	injected bool
}

// fleetSchemes are the URL schemes, and whether they mean TLS.
var fleetSchemes = map[string]bool{"redis": false, "valkey": false, "rediss": true, "valkeys": true}

// fleetParameters are the query parameters that ParseFleetURL knows.
var fleetParameters = []string{"addr", "db", "master_set", "sentinel_password", "sentinel_username", "skip_verify"}

// ParseFleetURL returns the configuration that a URL describes:
//
//	redis://[[user]:password@]host[:port][/database][?parameter=value&…]
//	valkey://…   the same
//	rediss://…   with TLS; also valkeys://
//	redis+unix:///path/to/socket[?db=database]; also valkey+unix://
//
// Parameters: addr=host:port for more nodes of a cluster or more Sentinels, as
// often as needed; master_set=name for Sentinels, with sentinel_username and
// sentinel_password if they differ from the server's; db=database;
// skip_verify=true to accept any certificate. The port is 6379, or 26379 for
// Sentinels, unless given.
//
// The errors contain no part of s except the names of known parameters: a
// password with a character that is not percent-encoded can end up in any other
// part of the URL.
func ParseFleetURL(s string) (FleetConfig, error) {
	u, err := url.Parse(s)
	if err != nil {
		return FleetConfig{}, errFleetURL
	}
	scheme, unix := strings.CutSuffix(u.Scheme, "+unix")
	secure, known := fleetSchemes[scheme]
	if !known || unix && secure {
		return FleetConfig{}, errFleetScheme
	}
	if u.Opaque != "" || u.Fragment != "" || unix && u.Host != "" {
		return FleetConfig{}, errFleetURL
	}
	var c FleetConfig
	c.Username = u.User.Username()
	c.Password, _ = u.User.Password()
	query, err := parseFleetQuery(u.RawQuery)
	if err != nil {
		return FleetConfig{}, err
	}
	c.MasterSet = query.Get("master_set")
	c.SentinelUsername, c.SentinelPassword = query.Get("sentinel_username"), query.Get("sentinel_password")
	if err := c.setDatabase(u, unix, query); err != nil {
		return FleetConfig{}, err
	}
	if err := c.setAddresses(u, unix, query["addr"]); err != nil {
		return FleetConfig{}, err
	}
	if err := c.setTLS(secure, query); err != nil {
		return FleetConfig{}, err
	}
	return c, nil
}

// What is wrong with a fleet's URL.
var (
	errFleetURL = errors.New("fleet URL: want redis://user:password@host:port/database or redis+unix:///path/to/socket; " +
		"in a user name or password write %23 for #, %25 for %, %2F for /, %3A for :, %3F for ?, %40 for @, %5B for [ and %5D for ]")
	errFleetScheme     = errors.New("fleet URL: the scheme is none of redis, rediss, valkey, valkeys, redis+unix, valkey+unix")
	errFleetQuery      = errors.New("fleet URL: the query is not of the form parameter=value&parameter=value, with special characters percent-encoded")
	errFleetParameter  = errors.New("fleet URL: a parameter is none of " + strings.Join(fleetParameters, ", "))
	errFleetDatabase   = errors.New("fleet URL: the database is not a number from 0 on")
	errFleetDatabases  = errors.New("fleet URL: the database is given both in the path and as db")
	errFleetAddress    = errors.New("fleet URL: the host or an addr is not of the form host:port, with a port from 1 to 65535")
	errFleetSocket     = errors.New("fleet URL: want one path of a socket: redis+unix:///path/to/socket")
	errFleetSkipVerify = errors.New("fleet URL: skip_verify is neither true nor false")
	errFleetPlain      = errors.New("fleet URL: skip_verify without TLS; want rediss:// or valkeys://")
)

func parseFleetQuery(raw string) (url.Values, error) {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return nil, errFleetQuery
	}
	for name := range query {
		if !slices.Contains(fleetParameters, name) {
			return nil, errFleetParameter
		}
	}
	for _, name := range fleetParameters {
		values := query[name]
		if len(values) > 1 && name != "addr" {
			return nil, fmt.Errorf("fleet URL: parameter %s is given more than once", name)
		}
		if slices.Contains(values, "") {
			return nil, fmt.Errorf("fleet URL: parameter %s has no value", name)
		}
	}
	return query, nil
}

func (c *FleetConfig) setDatabase(u *url.URL, unix bool, query url.Values) error {
	name := query.Get("db")
	if path := strings.Trim(u.Path, "/"); !unix && path != "" {
		if name != "" {
			return errFleetDatabases
		}
		name = path
	}
	if name == "" {
		return nil
	}
	n, err := strconv.Atoi(name)
	if err != nil || n < 0 {
		return errFleetDatabase
	}
	c.Database = n
	return nil
}

func (c *FleetConfig) setAddresses(u *url.URL, unix bool, more []string) error {
	if unix {
		if u.Path == "" || len(more) > 0 {
			return errFleetSocket
		}
		c.Addresses = []string{u.Path}
		return nil
	}
	for _, hostPort := range append([]string{u.Host}, more...) {
		address, err := c.address(hostPort)
		if err != nil {
			return err
		}
		c.Addresses = append(c.Addresses, address)
	}
	return nil
}

// address returns host:port of a text in which the port may be missing.
func (c *FleetConfig) address(s string) (string, error) {
	part := url.URL{Host: s}
	host, port := part.Hostname(), part.Port()
	if host == "" || strings.ContainsAny(host, "/@[] ") {
		return "", errFleetAddress
	}
	if port == "" {
		if strings.HasSuffix(s, ":") || strings.Contains(host, ":") && !strings.HasPrefix(s, "[") {
			return "", errFleetAddress
		}
		port = "6379"
		if c.MasterSet != "" {
			port = "26379"
		}
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", errFleetAddress
	}
	return net.JoinHostPort(host, port), nil
}

func (c *FleetConfig) setTLS(secure bool, query url.Values) error {
	skip := query.Get("skip_verify")
	if !secure {
		if skip != "" {
			return errFleetPlain
		}
		return nil
	}
	c.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	if skip != "" {
		on, err := strconv.ParseBool(skip)
		if err != nil {
			return errFleetSkipVerify
		}
		c.TLS.InsecureSkipVerify = on
	}
	return nil
}

// complete returns c with its defaults, or what is wrong with it.
func (c FleetConfig) complete() (FleetConfig, error) {
	if len(c.Addresses) == 0 {
		return c, errors.New("fleet: no address")
	}
	if c.Instances < 0 || c.Instances > maxInstances {
		return c, fmt.Errorf("fleet: %d instances; want 1 to %d", c.Instances, maxInstances)
	}
	if c.Deadline < 0 {
		return c, fmt.Errorf("fleet: a deadline of %v", c.Deadline)
	}
	c.Instances = max(c.Instances, 1)
	if c.Deadline == 0 {
		c.Deadline = DefaultFleetDeadline
	}
	if c.Prefix == "" {
		c.Prefix = DefaultFleetPrefix
	}
	return c, nil
}

// slack returns by how many microseconds a time can be wrong that was
// converted from the server's clock to ours and back: each way takes part of a
// round trip, which is no longer than the deadline. What a process knows of a
// budget counts for the server only where it differs by more; otherwise the
// error would add up with each request.
func (c *FleetConfig) slack() int64 {
	return 2 * min(c.Deadline, time.Second).Microseconds()
}

// maxInstances bounds FleetConfig.Instances, and with it the intervals while
// the server is away.
const maxInstances = 10_000
