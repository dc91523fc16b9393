package origins

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/document"
	"github.com/caddy-robots/caddy-robots/internal/netaddr"
	"github.com/caddy-robots/caddy-robots/robots"
)

type urlSource struct {
	sharedFile
	url       string
	transport *http.Transport
}

// URL returns a source that fetches a URL over HTTP. rawURL must be an absolute
// http or https URL. The source waits for an answer until the context ends; an
// Engine ends its fetches after ten seconds. It is also an io.Closer, which closes
// idle connections.
//
// The operator chose only the first URL, not those that it redirects to. So a
// redirect to an address that [netaddr.IsSpecial] reports, such as a private one, is
// an error, unless the host of rawURL has such an address: then only a redirect to
// this machine or its link is one, unless that host is there too. A redirect from
// https to http is an error too. Behind a proxy (HTTPS_PROXY), only the proxy knows
// the addresses: there, redirects stay on the same host, or its name with or
// without www.
func URL(rawURL string) (Source, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%q is not an absolute http or https URL: write one such as https://example.com/robots.txt", rawURL)
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns = 1
	t.DialContext = belowLocalhost(t.DialContext)
	t.MaxResponseHeaderBytes = 64 << 10
	t.ResponseHeaderTimeout = 10 * time.Second
	return &urlSource{url: u.String(), transport: t}, nil
}

func (s *urlSource) Fetch(ctx context.Context, _ judge.Origin) (judge.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return judge.Response{}, err
	}
	req.Header.Set("User-Agent", FetcherUserAgent)
	f := &urlFetch{transport: s.transport}
	client := &http.Client{Transport: f, CheckRedirect: checkRedirect}
	resp, err := client.Do(req)
	if err != nil {
		return judge.Response{}, err
	}
	defer resp.Body.Close()
	text, err := document.Decoded(resp.Header, resp.Body)
	if err != nil {
		return judge.Response{}, fmt.Errorf("reading the body: %w", err)
	}
	body, err := io.ReadAll(io.LimitReader(text, robots.MaxSize+1))
	if err != nil && !(len(body) > robots.MaxSize) {
		return judge.Response{}, fmt.Errorf("reading the body: %w", err)
	}
	return judge.Response{Status: resp.StatusCode, Body: body}, nil
}

// Close closes idle connections.
func (s *urlSource) Close() error {
	s.transport.CloseIdleConnections()
	return nil
}

// dial connects to an address.
type dial = func(ctx context.Context, network, address string) (net.Conn, error)

// belowLocalhost returns a dial that connects to names below localhost without DNS, as browsers
// and curl do (RFC 6761, section 6.3).
func belowLocalhost(next dial) dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(address)
		if err == nil && strings.HasSuffix(strings.ToLower(host), ".localhost") {
			address = net.JoinHostPort("localhost", port)
		}
		return next(ctx, network, address)
	}
}

// checkRedirect returns an error for a redirect that is not followed, whatever
// address it leads to. The request of a redirect has neither credentials of the
// redirect's choice nor a Referer, whose query could have some.
func checkRedirect(r *http.Request, via []*http.Request) error {
	last := via[len(via)-1].URL
	switch {
	case len(via) > MaxRedirects:
		return errRedirects
	case last.Scheme == "https" && r.URL.Scheme != "https":
		return fmt.Errorf("a redirect from https to %s is not followed", r.URL.Scheme)
	}
	r.Header.Del("Referer")
	if r.URL.User != last.User { // a relative redirect keeps those of the operator
		r.URL.User = nil
	}
	return nil
}

// sameHost reports whether two URLs have the same host, apart from www. and the
// port.
func sameHost(a, b *url.URL) bool {
	name := func(u *url.URL) string { return strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.") }
	return name(a) == name(b)
}

// urlFetch is one fetch of a urlSource. It checks the addresses of redirects when
// it connects to them, since a name can have another address a moment later.
type urlFetch struct {
	transport *http.Transport
	first     *url.URL
	from      netip.Addr // of the server at first; not valid if a proxy knows it
}

func (f *urlFetch) RoundTrip(r *http.Request) (*http.Response, error) {
	var proxy *url.URL
	if f.transport.Proxy != nil {
		var err error
		if proxy, err = f.transport.Proxy(r); err != nil {
			return nil, err
		}
	}
	switch {
	case r.Response == nil: // not a redirect
		f.first = r.URL
		if proxy == nil {
			trace := &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { f.from = addrOf(c.Conn.RemoteAddr().String()) }}
			r = r.WithContext(httptrace.WithClientTrace(r.Context(), trace))
		}
		return f.transport.RoundTrip(r)
	case proxy == nil:
		t := f.transport.Clone()
		t.Proxy, t.DisableKeepAlives = nil, true
		t.DialContext = belowLocalhost((&net.Dialer{ControlContext: f.control}).DialContext)
		return t.RoundTrip(r)
	case sameHost(f.first, r.URL):
		return f.transport.RoundTrip(r)
	}
	return nil, fmt.Errorf("a redirect to the host %.100q is not followed behind a proxy, "+
		"which may connect it to a private address", r.URL.Hostname())
}

// control returns an error if a redirect must not lead to an address.
func (f *urlFetch) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	to := addrOf(address)
	if !isSpecial(to) || f.from.IsValid() && isSpecial(f.from) && (!isHere(to) || isHere(f.from)) {
		return nil
	}
	return fmt.Errorf("a redirect to %s is not followed: it is not a public address", to)
}

// addrOf returns the IP address in an address with a port. It is not valid if there
// is none.
func addrOf(address string) netip.Addr {
	a, _ := netip.ParseAddrPort(address)
	return netaddr.Unmap(a.Addr())
}

// sixToFour has IPv4 addresses in IPv6 form (RFC 3056), which may be private.
var sixToFour = netip.MustParsePrefix("2002::/16")

func isSpecial(a netip.Addr) bool { return netaddr.IsSpecial(a) || sixToFour.Contains(a) }

// isHere reports whether a special address is of this machine, or of its link, where
// cloud providers have what only the machine may read.
func isHere(a netip.Addr) bool { return a.IsLoopback() || a.IsUnspecified() || a.IsLinkLocalUnicast() }

// FetcherUserAgent is the User-Agent that sources send. It does not contain
// words, such as bot, for which some sites refuse a request.
const FetcherUserAgent = "Caddy (reads the rules of a site)"
