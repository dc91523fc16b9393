package verify

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
	"time"
)

// Limits of one read of a list or directory.
const (
	maxDocument  = 4 << 20 // octets, after decompression
	fetchTimeout = 30 * time.Second
	maxRedirects = 5
	userAgent    = "caddy-robots (+https://github.com/caddy-robots/caddy-robots)"
)

// CheckURL returns an error if address is not a valid URL of a list or directory.
// It must begin with https://, or with http:// and a loopback address or
// localhost, and must have no user name and no fragment.
func CheckURL(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("parsing the URL: %w", err)
	}
	switch {
	case u.Hostname() == "" || u.User != nil || u.Fragment != "":
		return fmt.Errorf("%q is not the URL of a document: write https://host/path, without a user name or a fragment", address)
	case u.Scheme == "https", u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	}
	return fmt.Errorf("%q must begin with https:// (http:// is allowed for loopback addresses only)", address)
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// response is the response to one read.
type response struct {
	notModified  bool
	body         []byte
	mediaType    string // Content-Type, as sent
	header       http.Header
	authority    string // host, with a port if the URL has one
	etag         string
	lastModified string
}

// fetcher reads documents over HTTP.
type fetcher struct{ client *http.Client }

func newFetcher(client *http.Client) *fetcher {
	var c http.Client
	if client != nil {
		c = *client
	} else {
		c.Transport = newTransport()
	}
	c.CheckRedirect = checkRedirect
	c.Timeout = fetchTimeout
	c.Jar = nil
	return &fetcher{&c}
}

// newTransport returns a transport that nothing else uses, so that its idle connections can be closed.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 15 * time.Second,
		IdleConnTimeout:       10 * time.Second,
		MaxIdleConns:          4,
	}
}

// checkRedirect allows redirects to the same scheme, host and port, and between https://x and https://www.x in both directions.
func checkRedirect(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	from, to := via[0].URL, r.URL
	if from.Scheme == to.Scheme && strings.EqualFold(from.Host, to.Host) {
		return nil
	}
	a, b := strings.ToLower(from.Host), strings.ToLower(to.Host)
	if from.Scheme == "https" && to.Scheme == "https" && (a == "www."+b || b == "www."+a) {
		return nil
	}
	return fmt.Errorf("redirect to %s: the scheme, host and port must stay the same, except that an https:// host may gain or lose its \"www.\" prefix", to.Redacted())
}

// get fetches address. etag and lastModified, if not empty, make the request conditional.
func (f *fetcher) get(ctx context.Context, address, accept, etag, lastModified string) (*response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", userAgent)
	r.Header.Set("Accept", accept)
	if etag != "" {
		r.Header.Set("If-None-Match", etag)
	}
	if lastModified != "" {
		r.Header.Set("If-Modified-Since", lastModified)
	}
	res, err := f.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	switch res.StatusCode {
	case http.StatusNotModified:
		return &response{notModified: true}, nil
	case http.StatusOK:
	default:
		return nil, fmt.Errorf("status %d", res.StatusCode)
	}
	if res.ContentLength > maxDocument {
		return nil, errTooLarge
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxDocument+1))
	if err != nil {
		return nil, fmt.Errorf("reading the document: %w", err)
	}
	if len(body) > maxDocument {
		return nil, errTooLarge
	}
	return &response{
		body: body, mediaType: res.Header.Get("Content-Type"), header: res.Header, authority: res.Request.URL.Host,
		etag: res.Header.Get("ETag"), lastModified: res.Header.Get("Last-Modified"),
	}, nil
}

var errTooLarge = errors.New("the document is longer than 4 MiB")
