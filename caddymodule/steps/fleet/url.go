package fleet

import (
	"cmp"
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

// Defaults of a config.
const (
	defaultDeadline = 25 * time.Millisecond
	defaultPrefix   = "robots:"
)

// config has the settings of a limiter and its server: Redis 6 or later, or
// Valkey.
type config struct {
	// Addresses are the addresses, as host:port, of the server, of some nodes
	// of a cluster, or of some Sentinels. An address that starts with / is a
	// Unix socket. At least one is required.
	Addresses []string

	// Username and Password are for the login at the server. They are empty if
	// it requires none.
	Username, Password string

	// Database is the number of the server's database, from 0.
	Database int

	// TLS is the configuration of TLS. If nil, connections do not use TLS.
	TLS *tls.Config

	// MasterSet is the name that the Sentinels have for the server. It is empty
	// if Addresses are not those of Sentinels.
	MasterSet string

	// SentinelUsername and SentinelPassword are for the login at the Sentinels.
	SentinelUsername, SentinelPassword string

	// Prefix is the prefix of all keys in the server. If empty, it is "robots:".
	Prefix string

	// Instances is how many processes share the server; zero means 1. While the server is
	// unavailable, each process multiplies its intervals by it.
	Instances int

	// Deadline is how long a request waits at most for one answer of the server.
	// Zero means 25 milliseconds.
	Deadline time.Duration

	// injected makes the script use the time now of Take in place of the
	// server's clock. Tests set it.
	injected bool
}

// schemes are the URL schemes, and whether they use TLS.
var schemes = map[string]bool{"redis": false, "valkey": false, "rediss": true, "valkeys": true}

// parameters are the query parameters that parseURL knows.
var parameters = []string{"addr", "db", "master_set", "sentinel_password", "sentinel_username", "skip_verify"}

// parseURL returns the configuration that a URL describes:
//
//	redis://[[user]:password@]host[:port][/database][?parameter=value&…]
//	valkey://…   the same
//	rediss://…   with TLS; also valkeys://
//	redis+unix:///path/to/socket[?db=database]; also valkey+unix://
//
// Parameters: addr=host:port adds another node of a cluster or another
// Sentinel, and may be repeated; master_set=name is for Sentinels, with
// sentinel_username and sentinel_password for their login; db=database;
// skip_verify=true accepts any certificate. The default port is 6379, or 26379
// for Sentinels.
//
// An error repeats nothing from s except the names of known parameters: if a
// character of the password is not percent-encoded, url.Parse can take the rest
// of the password for any other part of the URL.
func parseURL(s string) (config, error) {
	u, err := url.Parse(s)
	if err != nil {
		return config{}, errURL
	}
	scheme, unix := strings.CutSuffix(u.Scheme, "+unix")
	secure, known := schemes[scheme]
	if !known || unix && secure {
		return config{}, errScheme
	}
	if u.Opaque != "" || u.Fragment != "" || unix && u.Host != "" {
		return config{}, errURL
	}
	var c config
	c.Username = u.User.Username()
	c.Password, _ = u.User.Password()
	query, err := parseQuery(u.RawQuery)
	if err != nil {
		return config{}, err
	}
	c.MasterSet = query.Get("master_set")
	c.SentinelUsername, c.SentinelPassword = query.Get("sentinel_username"), query.Get("sentinel_password")
	if err := cmp.Or(c.setDatabase(u, unix, query), c.setAddresses(u, unix, query["addr"]), c.setTLS(secure, query)); err != nil {
		return config{}, err
	}
	return c, nil
}

// Errors of parseURL.
var (
	errURL = errors.New("fleet URL: write redis://user:password@host:port/database or redis+unix:///path/to/socket; " +
		"in a user name or password, write %23 for #, %25 for %, %2F for /, %3A for :, %3F for ?, %40 for @, %5B for [ and %5D for ]")
	errScheme = errors.New("fleet URL: the scheme must be one of redis, rediss, valkey, valkeys, redis+unix, valkey+unix")
	errQuery  = errors.New("fleet URL: the query must have the form parameter=value&parameter=value, with " +
		"special characters percent-encoded")
	errParameter  = errors.New("fleet URL: unknown parameter; the parameters are " + strings.Join(parameters, ", "))
	errDatabase   = errors.New("fleet URL: the database must be a number, 0 or greater")
	errDatabases  = errors.New("fleet URL: the database is given twice, in the path and as db: remove one")
	errAddress    = errors.New("fleet URL: the host and each addr must have the form host:port, with a port from 1 to 65535")
	errSocket     = errors.New("fleet URL: write the path of one socket: redis+unix:///path/to/socket")
	errSkipVerify = errors.New("fleet URL: skip_verify must be true or false")
	errPlain      = errors.New("fleet URL: skip_verify needs TLS: write rediss:// or valkeys://")
)

func parseQuery(raw string) (url.Values, error) {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return nil, errQuery
	}
	for name := range query {
		if !slices.Contains(parameters, name) {
			return nil, errParameter
		}
	}
	for _, name := range parameters {
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

func (c *config) setDatabase(u *url.URL, unix bool, query url.Values) error {
	name := query.Get("db")
	if path := strings.Trim(u.Path, "/"); !unix && path != "" {
		if name != "" {
			return errDatabases
		}
		name = path
	}
	if name == "" {
		return nil
	}
	n, err := strconv.Atoi(name)
	if err != nil || n < 0 {
		return errDatabase
	}
	c.Database = n
	return nil
}

func (c *config) setAddresses(u *url.URL, unix bool, more []string) error {
	if unix {
		if u.Path == "" || len(more) > 0 {
			return errSocket
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

// address returns s as host:port. It adds the default port if there is none.
func (c *config) address(s string) (string, error) {
	part := url.URL{Host: s}
	host, port := part.Hostname(), part.Port()
	if host == "" || strings.ContainsAny(host, "/@[] ") {
		return "", errAddress
	}
	if port == "" {
		if strings.HasSuffix(s, ":") || strings.Contains(host, ":") && !strings.HasPrefix(s, "[") {
			return "", errAddress
		}
		port = "6379"
		if c.MasterSet != "" {
			port = "26379"
		}
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", errAddress
	}
	return net.JoinHostPort(host, port), nil
}

func (c *config) setTLS(secure bool, query url.Values) error {
	skip := query.Get("skip_verify")
	if !secure {
		if skip != "" {
			return errPlain
		}
		return nil
	}
	c.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	if skip != "" {
		on, err := strconv.ParseBool(skip)
		if err != nil {
			return errSkipVerify
		}
		c.TLS.InsecureSkipVerify = on
	}
	return nil
}

// slack returns the largest error, in microseconds, of a time that was
// converted from the server's clock to the process's clock and back. Each
// direction takes a part of a round trip, and a round trip takes at most
// Deadline. The script ignores a state of the process that differs from its own
// by less; otherwise the error would grow with each request.
func (c *config) slack() int64 { return 2 * min(c.Deadline, time.Second).Microseconds() }
