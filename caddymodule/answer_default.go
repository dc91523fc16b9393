package caddymodule

import (
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/headers"
)

// answer is the response to a refused request. Nothing may change length: all
// responses share it.
type answer struct {
	status int
	body   string
	length []string
	err    error
}

func newAnswer(status int, body string) answer {
	return answer{status, body + "\n", []string{strconv.Itoa(len(body) + 1)}, errors.New(body)}
}

// answers has the default answer for each reason to deny or throttle.
var answers = [enforce.Reasons]answer{
	enforce.Disallowed:   newAnswer(http.StatusForbidden, "The robots.txt of this site disallows this URL to your crawler."),
	enforce.Impostor:     newAnswer(http.StatusForbidden, "Your User-Agent names a crawler that does not come from your address. See the robots.txt of this site."),
	enforce.Unavailable:  newAnswer(http.StatusServiceUnavailable, "The robots.txt of this site can't be read at present, so crawlers may fetch nothing."),
	enforce.RulesPending: newAnswer(http.StatusTooManyRequests, "The robots.txt of this site has not been read yet."),
	enforce.CrawlDelay:   newAnswer(http.StatusTooManyRequests, "The robots.txt of this site asks your crawler for a longer Crawl-delay."),
	enforce.RequestRate:  newAnswer(http.StatusTooManyRequests, "The robots.txt of this site asks your crawler for a lower Request-rate."),
	enforce.Hidden:       newAnswer(http.StatusNotFound, "Not Found"),
	enforce.VisitTime:    newAnswer(http.StatusTooManyRequests, "The robots.txt of this site asks your crawler to come at another Visit-time."),
}

var (
	textPlain = []string{"text/plain; charset=utf-8"}
	noSniff   = []string{"nosniff"}
	noStore   = []string{"no-store"}
)

// refuse answers a refused request. The answer must not be stored, because a
// cache in front of the server would give it to people.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, d *enforce.Decision) error {
	a := &answers[d.Reason]
	header := w.Header()
	header["Cache-Control"] = noStore
	if d.RetryAfter > 0 {
		header.Set("Retry-After", headers.RetryAfter(d.RetryAfter))
	}
	if custom := h.answers[d.Reason]; custom != nil {
		return custom.send(w, r, d)
	}
	if err := errorFor(r, a); err != nil {
		return err
	}
	return a.send(w, r)
}

// send writes the answer.
func (a *answer) send(w http.ResponseWriter, r *http.Request) error {
	header := w.Header()
	header["Content-Type"] = textPlain
	header["X-Content-Type-Options"] = noSniff
	header["Content-Length"] = a.length
	w.WriteHeader(a.status)
	if r.Method != http.MethodHead {
		_, _ = io.WriteString(w, a.body) // an error means that the client is gone
	}
	return nil
}
