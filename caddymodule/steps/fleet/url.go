package fleet

import (
	"errors"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/valkey-io/valkey-go"
)

// Defaults of a config.
const (
	defaultDeadline = 25 * time.Millisecond
	defaultPrefix   = "robots:"
)

// config has the settings of a limiter and its server: Redis 6 or later, or
// Valkey.
type config struct {
	valkey.ClientOption // what parseURL returns

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

// parameters are the query parameters that parseURL knows.
var parameters = []string{"addr", "db", "master_set", "sentinel_password", "sentinel_username", "skip_verify"}

// Errors of parseURL.
var (
	errURL = errors.New("fleet URL: write redis://user:password@host:port/database, rediss://… with TLS, or unix:///path/to/socket; " +
		"in a user name or password, write %23 for #, %25 for %, %2F for /, %3A for :, %3F for ?, %40 for @, %5B for [ and %5D for ]")
	errParameter = errors.New("fleet URL: unknown parameter; the parameters are " + strings.Join(parameters, ", "))
	errAddress   = errors.New("fleet URL: each addr must have the form host:port")
)

// parseURL returns the servers that a URL describes: see valkey.ParseURL, and Fleet.URL.
//
// An error repeats nothing from s: if a character of the password is not percent-encoded,
// url.Parse can take the rest of the password for any other part of the URL.
func parseURL(s string) (o valkey.ClientOption, err error) {
	u, err := url.Parse(s)
	if err != nil || u.Opaque != "" || u.Fragment != "" {
		return o, errURL
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return o, errURL
	}
	for name := range query {
		if !slices.Contains(parameters, name) {
			return o, errParameter
		}
	}
	for _, address := range query["addr"] {
		if _, _, err := net.SplitHostPort(address); err != nil {
			return o, errAddress
		}
	}
	o, err = valkey.ParseURL(s)
	if err != nil {
		return o, errURL
	}
	if o.TLSConfig != nil {
		o.TLSConfig.ServerName = "" // each of several servers has its own
	}
	o.Sentinel.Username, o.Sentinel.Password, o.Sentinel.TLSConfig = query.Get("sentinel_username"), query.Get("sentinel_password"), o.TLSConfig
	return o, nil
}

// slack returns the largest error, in microseconds, of a time that was
// converted from the server's clock to the process's clock and back. Each
// direction takes a part of a round trip, and a round trip takes at most
// Deadline. The script ignores a state of the process that differs from its own
// by less; otherwise the error would grow with each request.
func (c *config) slack() int64 { return 2 * min(c.Deadline, time.Second).Microseconds() }
