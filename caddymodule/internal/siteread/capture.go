package siteread

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/internal/document"
	"github.com/caddy-robots/caddy-robots/robots"
)

// capture is a ResponseWriter that keeps the parts of a response that the
// read needs.
type capture struct {
	header http.Header
	status int
	body   bytes.Buffer
	full   func() // called when the body exceeds the limit
	err    error  // of the routes
}

var errFull = errors.New("the robots.txt exceeds the size limit; the rest is not read")

// run serves r. A handler may panic with http.ErrAbortHandler: Caddy's abort does, and the
// proxy when a write fails. That is no error if the body is full.
func (c *capture) run(h caddyhttp.Handler, r *http.Request) {
	defer func() {
		switch p := recover(); {
		case p == nil, c.isFull():
		case p == any(http.ErrAbortHandler):
			c.err = errors.New("the site closes the connection before the answer is complete, by abort or because its back end does")
		default:
			c.err = fmt.Errorf("a handler of the site panicked: %v", p)
		}
	}()
	if err := h.ServeHTTP(c, r); err != nil {
		c.WriteHeader(statusOf(err))
	}
	c.WriteHeader(http.StatusOK)
}

// Header implements http.ResponseWriter.
func (c *capture) Header() http.Header { return c.header }

// WriteHeader implements http.ResponseWriter.
func (c *capture) WriteHeader(status int) {
	if c.status == 0 && status >= 200 {
		c.status = status
	}
}

// Write implements http.ResponseWriter.
func (c *capture) Write(p []byte) (int, error) {
	c.WriteHeader(http.StatusOK)
	n, _ := c.body.Write(p[:min(len(p), robots.MaxSize+1-c.body.Len())])
	if c.isFull() {
		c.full()
		return n, errFull
	}
	return n, nil
}

// Flush implements http.Flusher, which some handlers require.
func (c *capture) Flush() {}

func (c *capture) isFull() bool { return c.body.Len() > robots.MaxSize }

// decode removes the content coding gzip from the body: some back ends send it to
// every client.
func (c *capture) decode() error {
	text, err := document.Decoded(c.header, &c.body)
	if err != nil || text == &c.body {
		return err
	}
	var body bytes.Buffer
	if _, err := body.ReadFrom(io.LimitReader(text, robots.MaxSize+1)); err != nil && !c.isFull() {
		return err
	}
	c.body = body
	c.header.Del("Content-Encoding")
	return nil
}

// failure returns an error if a captured response can't be used.
func (c *capture) failure(ctx context.Context) error {
	if c.err == nil {
		c.err = c.decode()
	}
	if c.isFull() {
		return nil
	}
	if c.err != nil {
		return c.err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if enc := c.header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return fmt.Errorf("the body has the Content-Encoding %q, which the request did not accept", enc)
	}
	return nil
}

// hasGroups reports whether the response is a robots.txt with groups.
func (c *capture) hasGroups() bool {
	return c.status >= 200 && c.status < 300 && robots.CheckText(c.body.Bytes()) == nil && len(robots.Parse(c.body.Bytes()).Groups()) > 0
}

// redirect reports whether the response is a redirect, and returns its target,
// nil if that is no URL.
func (c *capture) redirect(from *url.URL) (to *url.URL, ok bool) {
	switch c.status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, false
	}
	to, err := from.Parse(c.header.Get("Location"))
	if err != nil || to.Host == "" {
		return nil, true
	}
	if to.Path == "" {
		to.Path = "/"
	}
	return to, true
}
