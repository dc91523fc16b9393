package enforce

import (
	"context"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// Request is a request to decide on.
type Request struct {
	Method     string
	Target     string   // the request target as it came: path and query, or absolute form
	UserAgents []string // the values of all User-Agent fields
	Origin     Origin
	Client     string // the client's address, for budgets that are counted by address
	Time       time.Time

	// Authorized reports that the request has an Authorization field.
	Authorized bool

	// Invented reports that no host matcher of the site names the host
	// literally, so that clients may make up any number of such hosts. A
	// crawler has one budget for all hosts of Site, until it has read the
	// host's robots.txt.
	Invented bool
	Site     string

	// Taken is the pace that an earlier handler has held this request to; nil
	// if none has.
	Taken *throttle.Terms

	// Ambiguous reports that Client is one of several addresses in a field that
	// the client may have written itself, or that of a proxy. Such an address
	// neither verifies nor refutes a claim.
	Ambiguous bool
	// Proxied reports that the request came through a trusted proxy.
	Proxied bool
	// Signed has the signature fields of a request; nil if it has none.
	Signed *Signed

	// Caller is the server that received the request. It may be nil if the
	// source needs nothing of the request.
	Caller Caller
}

// Caller is the server that an engine decides for.
type Caller interface {
	// Detach returns a context for reading a robots.txt in the background. It
	// is not cancelled with the request, and may carry values for the source.
	// It is called on the goroutine of the request, only when a read begins.
	Detach() context.Context
}

// detach returns the context for a read that r begins.
func (r *Request) detach() context.Context {
	if r.Caller == nil {
		return context.Background()
	}
	return r.Caller.Detach()
}

// ask returns what decides about the request, in addition to its path.
func (r *Request) ask() Ask { return Ask{Method: r.Method, Authorized: r.Authorized} }

// noUserAgent stands for the User-Agent fields of a request that has none.
var noUserAgent = []string{""}

// fields returns the User-Agent fields that are read, and whether there are
// more than any client but a robot sends.
func (r *Request) fields() (fields []string, tooMany bool) {
	switch {
	case len(r.UserAgents) == 0:
		return noUserAgent, false
	case len(r.UserAgents) > maxUserAgents:
		return r.UserAgents[:maxUserAgents], true
	}
	return r.UserAgents, false
}

// IsRobotsTxt reports whether a request target is that of the robots.txt
// itself: /robots.txt, with or without a query, also in absolute form.
func IsRobotsTxt(target string) bool {
	path, _, _ := strings.Cut(target, "?")
	if strings.HasPrefix(path, "/") {
		return path == "/robots.txt"
	}
	if _, rest, absolute := strings.Cut(path, "://"); absolute {
		_, path, found := strings.Cut(rest, "/")
		return found && path == "robots.txt"
	}
	return false
}
