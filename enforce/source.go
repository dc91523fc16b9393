package enforce

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/caddy-robots/caddy-robots/robots"
)

// Source gets robots.txt files. Its methods are called from several
// goroutines at once.
type Source interface {
	// Fetch returns the robots.txt of origin. It returns when ctx ends, reads
	// no more than robots.MaxSize octets and one, and gives an error where
	// there was no answer at all.
	Fetch(ctx context.Context, origin Origin) (Response, error)

	// PerOrigin reports whether origins have files of their own. Where they
	// have not, one policy serves them all.
	PerOrigin() bool
}

// Response is a source's answer.
type Response struct {
	Status int    // an HTTP status code, after redirects
	Body   []byte // not more than robots.MaxSize octets and one
	// Apart reports that clients which ask for the file do not get it from the
	// handler that has the policy, so that the operator's lines can't be
	// published with it.
	Apart bool
}

// ErrRedirects is returned by a source after more than the five redirects that
// RFC 9309, section 2.3.1.2, asks for, or after a redirect that it does not
// follow. It counts as a failure, because the site may have rules at another
// address.
var ErrRedirects = errors.New("redirects that are not followed")

// MaxRedirects is how many redirects in a row a source follows.
const MaxRedirects = 5

// Outcome is what reading a source came to.
type Outcome uint8

const (
	Loaded    Outcome = iota // a robots.txt: its rules are in force
	Unchanged                // the same octets as before
	Missing                  // 404 or 410: no rules
	NotRobots                // an HTML page in place of a robots.txt: no rules
	Refused                  // another 4xx: the last good copy for 24 hours, then no rules
	Failed                   // 429, 5xx or no answer: the last good copy for 30 days, then no rules
	Pending                  // nothing was read yet: the state of a Policy, never of a read
)

// String returns the outcome's name as logs and metrics show it.
func (o Outcome) String() string {
	return [...]string{"loaded", "unchanged", "missing", "not_robots", "refused", "failed", "pending"}[o]
}

// outcome classifies a source's answer (RFC 9309, section 2.3.1). A 429
// counts as a failure although it is a 4xx: it says that the back end is
// overloaded, not that the site has no rules.
func outcome(resp Response, err error) (Outcome, error) {
	switch {
	case err != nil:
		return Failed, err
	case resp.Status >= 200 && resp.Status < 300:
		if robots.LooksLikeHTML(resp.Body) {
			return NotRobots, errors.New("the body is an HTML page")
		}
		return Loaded, nil
	}
	err = fmt.Errorf("status %d", resp.Status)
	switch {
	case resp.Status == http.StatusNotFound || resp.Status == http.StatusGone:
		return Missing, err
	case resp.Status >= 400 && resp.Status < 500 && resp.Status != http.StatusTooManyRequests:
		return Refused, err
	}
	return Failed, err
}

// Inline is a Source whose file is given with the configuration.
type Inline []byte

// Fetch returns the text.
func (s Inline) Fetch(context.Context, Origin) (Response, error) {
	return Response{Status: http.StatusOK, Body: s[:min(len(s), robots.MaxSize+1)]}, nil
}

// PerOrigin is false: the text serves all origins.
func (Inline) PerOrigin() bool { return false }
