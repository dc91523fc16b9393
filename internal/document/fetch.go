package document

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/release"
)

// MaxSize is the largest document that is read, in octets after decompression.
const MaxSize = 4 << 20

// Limits of one read.
const (
	fetchTimeout = 30 * time.Second
	maxRedirects = 5
	maxValidator = 256 // octets of a field ETag or Last-Modified; a longer one is not used
	readsAtOnce  = 4   // by one Reader
)

var userAgent = "caddy-robots/" + release.Version() + " (+https://github.com/caddy-robots/caddy-robots)"

// ParseURL parses the URL of a document. It must begin with https://, or with
// http:// and a loopback address or localhost.
func ParseURL(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("parsing the URL: %w", err)
	case u.Hostname() == "":
		return nil, fmt.Errorf("%q is not the URL of a document: write https://host/path", address)
	case u.Scheme == "https", u.Scheme == "http" && isLoopback(u.Hostname()):
		return u, nil
	}
	return nil, fmt.Errorf("%q must begin with https:// (http:// is allowed for loopback addresses only)", u.Redacted())
}

// ParseOpenURL is ParseURL for a document that everybody may read: the URL must have no
// user name.
func ParseOpenURL(address string) (*url.URL, error) {
	u, err := ParseURL(address)
	if err == nil && u.User != nil {
		err = fmt.Errorf("%q is not the URL of a document: write https://host/path, without a user name", address)
	}
	return u, err
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// Config has the settings of a Reader. The zero value has the defaults.
type Config struct {
	Client  *http.Client // its CheckRedirect, Timeout and Jar are not used. nil: a client that nothing else uses
	Storage Storage      // nil: copies are kept in memory only
	Folder  string       // of the copies in Storage
	Now     func() time.Time
}

// Reader reads documents over HTTP, four at a time, and stores their copies. It is
// safe for concurrent use.
type Reader struct {
	Config
	client http.Client
	direct http.Client // the same, but it follows no redirect
	slots  chan struct{}
	kept   atomic.Pointer[Storage] // nil: copies are kept in memory only
}

// NewReader returns a Reader. The caller must close it.
func NewReader(c Config) *Reader {
	r := &Reader{Config: c, slots: make(chan struct{}, readsAtOnce)}
	if c.Storage != nil {
		r.KeepIn(c.Storage)
	}
	if c.Client != nil {
		r.client = *c.Client
	} else {
		r.client.Transport = newTransport()
	}
	if c.Now == nil {
		r.Now = time.Now
	}
	r.client.CheckRedirect, r.client.Timeout, r.client.Jar = checkRedirect, fetchTimeout, nil
	r.direct = r.client
	r.direct.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return r
}

// KeepIn makes the Reader keep copies in another Storage from now on.
func (r *Reader) KeepIn(s Storage) { r.kept.Store(&s) }

// Close closes the idle connections of the Reader's own client.
func (r *Reader) Close() {
	if r.Config.Client == nil {
		r.client.CloseIdleConnections()
	}
}

// newTransport returns a transport that nothing else uses, so that its idle
// connections can be closed.
func newTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
	t.ResponseHeaderTimeout, t.IdleConnTimeout, t.MaxIdleConns = 15*time.Second, 10*time.Second, 4
	return t
}

// checkRedirect allows redirects to the same scheme, host and port, and between
// https://x and https://www.x in both directions.
func checkRedirect(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	from, to := via[0].URL, r.URL
	a, b := strings.ToLower(from.Host), strings.ToLower(to.Host)
	if from.Scheme == to.Scheme && (a == b || from.Scheme == "https" && (a == "www."+b || b == "www."+a)) {
		return nil
	}
	return fmt.Errorf("redirect to %s: the scheme, host and port must stay the same, except that an https:// host may "+
		"gain or lose its \"www.\" prefix", to.Redacted())
}

// Response is a document as a server sent it, or as it was stored.
type Response struct {
	Body      []byte
	MediaType string      // Content-Type, as sent
	Header    http.Header // nil for a stored copy
}

var errTooLarge = errors.New("the document is longer than 4 MiB")

// get fetches address with a client. If that is still the document that before
// describes, get returns nil and no error.
func get(ctx context.Context, client *http.Client, address, accept string, before description) (*Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"User-Agent": userAgent, "Accept": accept, "If-None-Match": before.ETag, "If-Modified-Since": before.LastModified,
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusNotModified && before.URL != "":
		return nil, nil
	case res.StatusCode == http.StatusNotModified:
		return nil, errors.New("status 304 (not modified), but there is no copy in use")
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("status %d", res.StatusCode)
	case res.ContentLength > MaxSize:
		return nil, errTooLarge
	}
	text, err := Decoded(res.Header, res.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the document: %w", err)
	}
	body, err := io.ReadAll(io.LimitReader(text, MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("reading the document: %w", err)
	}
	if len(body) > MaxSize {
		return nil, errTooLarge
	}
	return &Response{Body: body, MediaType: res.Header.Get("Content-Type"), Header: res.Header}, nil
}
