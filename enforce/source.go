package enforce

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/caddy-robots/caddy-robots/robots"
)

// Source fetches or reads robots.txt files. Its methods must be safe for
// concurrent use.
type Source interface {
	// Fetch returns the robots.txt of origin. It must return when ctx ends. It
	// returns an error only if there was no answer at all; other answers have a
	// status.
	Fetch(ctx context.Context, origin Origin) (Response, error)

	// PerOrigin reports whether each origin has its own file. If not, the
	// engine calls Fetch with the zero Origin, and one file serves all
	// origins.
	PerOrigin() bool
}

// Response is a source's answer.
type Response struct {
	Status int    // the HTTP status code after redirects
	Body   []byte // at most robots.MaxSize+1 octets, so that a file that is too large can be recognised
	// Apart reports that another handler answers the clients' requests for
	// /robots.txt. The lines of the operator (Additions) can't be published
	// then, and so they are not enforced.
	Apart bool
	// Elsewhere is the URL to which the answer redirects, if the source does not
	// follow the redirect because another host answers there.
	Elsewhere string
	// From is the URL of the answer, without credentials, if redirects led to
	// another host; otherwise "".
	From string
	// Whole reports that no part of the answer can be missing. Other answers that
	// take rules away are fetched again before they count.
	Whole bool

	file *fileState // that was read; nil of a source without files
}

// ErrRedirects is the error of a source for more than MaxRedirects redirects in
// a row.
var ErrRedirects = errors.New("too many redirects")

// ErrNULs is the error of a file that a crash or a power failure has damaged.
var ErrNULs = errors.New("the file has only NUL octets, as after a power failure")

// MaxRedirects is how many redirects in a row a source follows: the least
// number that RFC 9309, section 2.3.1.2, asks for.
const MaxRedirects = 5

// Outcome is the kind of result of reading a source.
type Outcome uint8

const (
	Loaded     Outcome = iota // a robots.txt: its rules are in force
	Unchanged                 // the same file as before: only of a fetch
	Missing                   // 404 or 410: no rules
	NotRobots                 // another text, such as an HTML page: the last good copy for 30 days, then no rules
	Forbidden                 // another 4xx, such as 403: the last good copy for 24 hours, then no rules
	Redirected                // a redirect to another host: the last good copy for 24 hours, then no rules
	Failed                    // 429, 5xx, another status, only NULs or no answer: the last good copy for 30 days, then no rules; with DenyFailed (`on_error deny`), crawlers are denied everything
	Pending                   // nothing was fetched yet: only of the rules in force
)

// String returns the outcome's name in logs and metrics: loaded, unchanged,
// missing, not_robots, forbidden, redirected, failed or pending.
func (o Outcome) String() string {
	return [...]string{"loaded", "unchanged", "missing", "not_robots", "forbidden", "redirected", "failed", "pending"}[o]
}

// outcome classifies a source's answer (RFC 9309, section 2.3.1). A 429 counts
// as a failure although it is a 4xx: it means that the back end is overloaded,
// not that the site has no rules.
func outcome(resp Response, err error) (Outcome, error) {
	switch {
	case err != nil:
		return Failed, err
	case resp.Elsewhere != "":
		return Redirected, fmt.Errorf("it redirects to %.200s", resp.Elsewhere)
	case resp.Status >= 200 && resp.Status < 300:
		if len(resp.Body) > 0 && len(bytes.Trim(resp.Body, "\x00")) == 0 {
			return Failed, ErrNULs
		}
		if err := robots.CheckText(resp.Body); err != nil {
			return NotRobots, err
		}
		return Loaded, nil
	}
	err = fmt.Errorf("status %d", resp.Status)
	switch {
	case resp.Status == http.StatusNotFound || resp.Status == http.StatusGone:
		return Missing, err
	case resp.Status >= 400 && resp.Status < 500 && resp.Status != http.StatusTooManyRequests:
		return Forbidden, err
	}
	return Failed, err
}

// sharedFile is a part of a Source with one file for all origins.
type sharedFile struct{}

func (sharedFile) PerOrigin() bool { return false }

// Inline returns a source of a text in the configuration.
func Inline(text string) Source { return &inlineSource{text: text} }

type inlineSource struct {
	sharedFile
	text string
}

func (s *inlineSource) Fetch(context.Context, Origin) (Response, error) {
	return Response{Status: http.StatusOK, Body: []byte(s.text[:min(len(s.text), robots.MaxSize+1)]), Whole: true}, nil
}
