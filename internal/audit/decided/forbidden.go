package decided

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/mask"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
)

// Forbidden calls show for each request of a crawler that a rule of robots.txt or of the
// policy forbade, whether it was refused or not, in the order of the logs. The decision is
// that of Caddy's log, or else that of q's robots.txt. The name is compared without case.
//
// The whole address is shown of crawlers alone: those of software that anyone runs, and of
// what fetches for people, are masked unless q.Full is set. The first error of show ends
// the reading, and is returned.
func Forbidden(ctx context.Context, q *Query, name string, show func(*Request) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	decisions := false
	_, err := audit.Each(ctx, q.Options, func(j *audit.Judged) {
		d := logged(j)
		if d == nil && j.Rulings[0].Known() {
			own := verdict.Of(&j.Rulings[0].Decision)
			d = &own
		}
		decisions = decisions || d != nil
		if d == nil || !strings.EqualFold(d.Crawler, name) || d.Reason != judge.Disallowed.String() ||
			!q.selects(&j.Log.Entry) {
			return
		}
		full := q.Full || !ofPeople(&j.Rulings[0].Agent)
		r := newRequest(j, mask.Masker{Full: full}, mask.Masker{Full: q.Full}, d)
		if err := show(&r); err != nil {
			stop(err)
		}
	})
	switch {
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case err == nil && !decisions:
		return errNoRules
	}
	return err
}

var errNoRules = errors.New("the log has no decisions of Caddy: give the robots.txt of that time with --robots")

// peoples are purposes of crawlers whose addresses are those of people.
var peoples = []crawler.Purpose{crawler.Preview, crawler.Feed, crawler.UserRequest, crawler.AIUser, crawler.AIAgent}

// ofPeople reports whether the addresses of a client may be those of people.
func ofPeople(a *crawler.Agent) bool {
	crawls := slices.Contains([]crawler.Class{crawler.Registered, crawler.SelfDeclared, crawler.Scraper}, a.SentClass())
	fetches := a.Crawler != nil && slices.ContainsFunc(a.Crawler.Purposes, func(p crawler.Purpose) bool {
		return slices.Contains(peoples, p)
	})
	return !crawls || fetches || a.RunByAnyone()
}
