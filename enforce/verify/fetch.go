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

// Bounds of one read of a list or directory.
const (
	maxDocument  = 4 << 20 // octets, after decompression
	fetchTimeout = 30 * time.Second
	maxRedirects = 5
	userAgent    = "caddy-robots (+https://github.com/caddy-robots/caddy-robots)"
)

// CheckURL returns what is wrong with the address of a list or directory, or
// nil: it must be https, or http on a loopback address.
func CheckURL(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("parsing the URL: %w", err)
	}
	switch {
	case u.Hostname() == "" || u.User != nil || u.Fragment != "":
		return fmt.Errorf("%q is not the URL of a document: write https://host/path", address)
	case u.Scheme == "https", u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	}
	return fmt.Errorf("%q must begin with https:// (http:// is for loopback addresses only)", address)
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// response is the answer to a read.
type response struct {
	notModified  bool
	body         []byte
	mediaType    string // Content-Type, as sent
	header       http.Header
	authority    string
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

// newTransport returns a transport of its own, so that closing its idle connections ends nobody else's.
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

// checkRedirect lets a redirect lead to the same scheme, host and port only, or from https://x to https://www.x and back.
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
	return fmt.Errorf("redirect to another host, %s", to.Redacted())
}

// get reads address. With an etag or a time it asks for a document that is newer only.
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
