package enforce

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/caddy-robots/caddy-robots/robots"
)

type urlSource struct {
	sharedFile
	url    string
	client *http.Client
}

// URL returns a source that fetches a URL over HTTP. rawURL must be an absolute
// http or https URL. The source waits for an answer until the context ends; an
// Engine ends its fetches after ten seconds. It is also an io.Closer, which closes
// idle connections.
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
	return &urlSource{url: u.String(), client: &http.Client{
		Transport: t,
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if len(via) > MaxRedirects {
				return ErrRedirects
			}
			return nil
		},
	}}, nil
}

func (s *urlSource) Fetch(ctx context.Context, _ Origin) (Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return Response{}, err
	}
	req.Header.Set("User-Agent", FetcherUserAgent)
	resp, err := s.client.Do(req)
	if err != nil {
		return Response{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, robots.MaxSize+1))
	if err != nil && !(len(body) > robots.MaxSize) {
		return Response{}, fmt.Errorf("reading the body: %w", err)
	}
	return Response{Status: resp.StatusCode, Body: body}, nil
}

// Close closes idle connections.
func (s *urlSource) Close() error {
	s.client.CloseIdleConnections()
	return nil
}

// FetcherUserAgent is the User-Agent that sources send. It does not contain
// words, such as bot, for which some sites refuse a request.
const FetcherUserAgent = "Caddy (reads the rules of a site)"
