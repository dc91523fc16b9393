package origins

import (
	"context"
	"errors"
	"net/http"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Source fetches or reads robots.txt files. Its methods must be safe for
// concurrent use.
type Source interface {
	// Fetch returns the robots.txt of origin. It must return when ctx ends. It
	// returns an error only if there was no answer at all; other answers have a
	// status.
	Fetch(ctx context.Context, origin judge.Origin) (judge.Response, error)

	// PerOrigin reports whether each origin has its own file. If not, the
	// engine calls Fetch with the zero Origin, and one file serves all
	// origins.
	PerOrigin() bool
}

// errRedirects is the error of a source for more than MaxRedirects redirects in
// a row.
var errRedirects = errors.New("too many redirects")

// MaxRedirects is how many redirects in a row a source follows: the least
// number that RFC 9309, section 2.3.1.2, asks for.
const MaxRedirects = 5

// sharedFile is a part of a Source with one file for all origins.
type sharedFile struct{}

func (sharedFile) PerOrigin() bool { return false }

// Inline returns a source of a text in the configuration.
func Inline(text string) Source { return &inlineSource{text: text} }

type inlineSource struct {
	sharedFile
	text string
}

func (s *inlineSource) Fetch(context.Context, judge.Origin) (judge.Response, error) {
	return judge.Response{Status: http.StatusOK, Body: []byte(s.text[:min(len(s.text), robots.MaxSize+1)]), Whole: true}, nil
}
