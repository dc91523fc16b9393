package origins

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/document"
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
// The operator chose the first URL, not those that it redirects to. So redirects stay
// on the same host, or its name with or without www, and do not lead from https to
// http: no server can make this one read what only its own network may read.
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
	client := &http.Client{Transport: s.transport, CheckRedirect: checkRedirect}
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

// checkRedirect returns an error for a redirect that is not followed. The request of a
// redirect has no credentials of the redirect's choice.
func checkRedirect(r *http.Request, via []*http.Request) error {
	last := via[len(via)-1].URL
	switch {
	case len(via) > MaxRedirects:
		return errRedirects
	case last.Scheme == "https" && r.URL.Scheme != "https":
		return fmt.Errorf("a redirect from https to %s is not followed", r.URL.Scheme)
	case !sameHost(r.URL, last):
		return fmt.Errorf("a redirect to the host %.100q is not followed: write its URL", r.URL.Hostname())
	}
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

// FetcherUserAgent is the User-Agent that sources send. It does not contain
// words, such as bot, for which some sites refuse a request.
const FetcherUserAgent = "Caddy (reads the rules of a site)"
