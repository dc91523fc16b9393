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
}

// ErrRedirects is returned by a source that was redirected more often than
// the five times that RFC 9309, section 2.3.1.2, asks for, or to where it
// can't follow. It counts as a missing file.
var ErrRedirects = errors.New("too many redirects")

// MaxRedirects is how many redirects in a row a source follows.
const MaxRedirects = 5

// Outcome is what reading a source came to.
type Outcome uint8

const (
	Loaded    Outcome = iota // a robots.txt: its rules are in force
	Unchanged                // the same octets as before
	Missing                  // 4xx or redirects without end: no rules
	NotRobots                // an HTML page in place of a robots.txt: no rules
	Failed                   // 5xx, 429 or no answer: the last good copy stays
)

// String returns the outcome's name as logs and metrics show it.
func (o Outcome) String() string {
	return [...]string{"loaded", "unchanged", "missing", "not_robots", "failed"}[o]
}

// outcome classifies a source's answer (RFC 9309, section 2.3.1). A 429
// counts as a failure although it is a 4xx: it says that the back end is
// overloaded, not that the site has no rules.
func outcome(resp Response, err error) (Outcome, error) {
	switch {
	case errors.Is(err, ErrRedirects):
		return Missing, err
	case err != nil:
		return Failed, err
	case resp.Status >= 200 && resp.Status < 300:
		if robots.LooksLikeHTML(resp.Body) {
			return NotRobots, errors.New("the body is an HTML page")
		}
		return Loaded, nil
	case resp.Status == http.StatusTooManyRequests || resp.Status < 300 || resp.Status >= 500:
		return Failed, fmt.Errorf("status %d", resp.Status)
	default:
		return Missing, fmt.Errorf("status %d", resp.Status)
	}
}

// Inline is a Source whose file is given with the configuration.
type Inline []byte

// Fetch returns the text.
func (s Inline) Fetch(context.Context, Origin) (Response, error) {
	return Response{Status: http.StatusOK, Body: s[:min(len(s), robots.MaxSize+1)]}, nil
}

// PerOrigin is false: the text serves all origins.
func (Inline) PerOrigin() bool { return false }
