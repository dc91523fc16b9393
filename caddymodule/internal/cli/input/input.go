package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// fetchTimeout is the maximum time to fetch a URL.
const fetchTimeout = 30 * time.Second

// MaxSize is the maximum size of an input, in octets.
const MaxSize = 16 << 20

// Robots reads the named robots.txt: a file, an http or https URL, or - for
// standard input. It returns an error for other content, such as a web page.
func Robots(ctx context.Context, name string, stdin io.Reader) ([]byte, error) {
	body, err := Read(ctx, name, stdin)
	if err != nil {
		return nil, err
	}
	for _, f := range lint.Lint(robots.Parse(body[:min(len(body), 4<<10)]), lint.WithSelect(unreadable...)) {
		return nil, fmt.Errorf("%s is not a robots.txt: %s", Shown(name), f.Message)
	}
	if err := robots.CheckText(body); err != nil {
		return nil, fmt.Errorf("%s is not a robots.txt: %w", Shown(name), err)
	}
	return body, nil
}

// Answer returns the answer for a robots.txt that was read. A status which means that
// there is no such file is not an error, but the answer.
func Answer(body []byte, err error) (judge.Response, error) {
	if status, ok := errors.AsType[*StatusError](err); ok && status.missing() {
		return judge.Response{Status: status.Code}, nil
	}
	return judge.Response{Status: http.StatusOK, Body: body}, err
}

// unreadable are the linter's findings for files that are not robots.txt files.
// The first 4 KiB are enough to find them.
var unreadable = []string{"binary", "utf-16"}

// Read reads a file, the robots.txt of a URL, or standard input.
func Read(ctx context.Context, name string, stdin io.Reader) ([]byte, error) {
	switch {
	case name == "-":
		return readAll("standard input", stdin)
	case IsURL(name):
		return readURL(ctx, RobotsAddress(name))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(name, f)
}

// IsURL reports whether the name of an input is a URL.
func IsURL(name string) bool {
	lower := strings.ToLower(name[:min(len(name), len("https://"))])
	return strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://")
}

// RobotsAddress returns the address to fetch for a URL: /robots.txt if the URL
// has no path.
func RobotsAddress(name string) string {
	if u, err := url.Parse(name); err == nil && u.Path == "" && u.RawQuery == "" {
		return u.JoinPath("/robots.txt").String()
	}
	return name
}

// readURL fetches a URL. If the status is not 200, it returns a *StatusError.
func readURL(ctx context.Context, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("%s is not a valid URL", Shown(address))
	}
	req.Header.Set("User-Agent", origins.FetcherUserAgent)
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, &StatusError{Shown(address), resp.Status, resp.StatusCode}
	}
	return readAll(Shown(address), resp.Body)
}

// client connects to names below localhost without DNS, as browsers and curl do
// (RFC 6761, section 6.3).
var client = func() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if host, port, err := net.SplitHostPort(address); err == nil && strings.HasSuffix(strings.ToLower(host), ".localhost") {
			address = net.JoinHostPort("localhost", port)
		}
		return dial(ctx, network, address)
	}
	return &http.Client{Transport: transport}
}()

// StatusError is the error for a response whose status is not 200.
type StatusError struct {
	address, status string
	// Code is the status.
	Code int
}

func (e *StatusError) Error() string { return fmt.Sprintf("%s answers %s", e.address, e.status) }

// missing reports whether the status means that there is no such file (RFC
// 9309, section 2.3.1.3). 429 does not: it means that the server limits
// requests.
func (e *StatusError) missing() bool {
	return e.Code >= 400 && e.Code < 500 && e.Code != http.StatusTooManyRequests
}

// readAll reads at most MaxSize octets. It returns an error if there are more.
func readAll(name string, r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, MaxSize+1))
	if _, isFile := errors.AsType[*fs.PathError](err); isFile {
		return nil, err // which has the name
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if len(body) > MaxSize {
		return nil, fmt.Errorf("%s is larger than %d MiB. Crawlers read only the first %d KiB", name, MaxSize>>20, robots.MaxSize>>10)
	}
	return body, nil
}
