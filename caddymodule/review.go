package caddymodule

import (
	"sync"
	"weak"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/findings"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// Bounds of a review.
const (
	maxFindingsLogged = 10  // log lines of one kind about one file
	maxReviews        = 256 // files that wait for their review
	maxReviewed       = 64  // files that are remembered as reviewed
)

// review logs the lines of each loaded robots.txt that have no effect, or not the
// intended one, once for each file. The linter may take a tenth of a second for
// the largest files, so a review runs in the background, one file at a time.
type review struct {
	log      *zap.Logger
	registry *crawler.Registry
	tags     []headers.Setting
	more     []func(*zap.Logger, *enforce.Rules)

	mu      sync.Mutex
	queue   []loaded
	done    [maxReviewed]weak.Pointer[enforce.Rules] // origins with the same file share one policy
	next    int                                      // the next index in done
	working bool
	closed  bool
	running sync.WaitGroup
}

// loaded is a policy and the first origin with it.
type loaded struct {
	origin enforce.Origin
	policy *enforce.Rules
}

// newReview returns a review that logs to log. It uses the crawlers in the
// registry and the header rules in tags, and calls more for each file.
func newReview(log *zap.Logger, registry *crawler.Registry, tags []headers.Setting, more ...func(*zap.Logger, *enforce.Rules)) *review {
	return &review{log: log, registry: registry, tags: tags, more: more}
}

// add queues a policy for review. It does not block.
func (r *review) add(origin enforce.Origin, policy *enforce.Rules) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || len(r.queue) >= maxReviews {
		return
	}
	this := weak.Make(policy)
	for _, p := range r.done {
		if p == this {
			return
		}
	}
	r.done[r.next] = this
	r.next = (r.next + 1) % maxReviewed
	r.queue = append(r.queue, loaded{origin, policy})
	if !r.working {
		r.working = true
		r.running.Go(r.work)
	}
}

// work reviews the queued policies until the queue is empty.
func (r *review) work() {
	for {
		r.mu.Lock()
		if len(r.queue) == 0 {
			r.working = false
			r.mu.Unlock()
			return
		}
		l := r.queue[0]
		r.queue = r.queue[1:]
		r.mu.Unlock()
		log := r.log.With(originField(l.origin)...)
		logMergeNotes(log, l.policy)
		logUnenforceable(log, l.policy)
		logMistakes(log, l.policy.File(), r.registry)
		logHiddenHeaders(log, r.tags, l.policy.File(), r.registry)
		for _, look := range r.more {
			look(log, l.policy)
		}
	}
}

// Close empties the queue, and waits until the current review ends.
func (r *review) Close() error {
	r.mu.Lock()
	r.closed, r.queue = true, nil
	r.mu.Unlock()
	r.running.Wait()
	return nil
}

// logMergeNotes logs the notes about the merge of the managed policy.
func logMergeNotes(log *zap.Logger, p *enforce.Rules) {
	notes := p.Notes()
	for i, n := range notes {
		if i == maxFindingsLogged {
			log.Warn("the policy has more notes: run caddy robots policy to see them", zap.Int("not_logged", len(notes)-i))
			break
		}
		log.Info("policy: "+n.Text(), zap.Strings("crawlers", n.Crawlers[:min(len(n.Crawlers), maxFindingsLogged)]), zap.Int("of", len(n.Crawlers)),
			zap.String("detail", clip(n.Detail)), zap.Int("site_line", n.SiteLine), zap.Int("line", n.Line))
	}
}

// logUnenforceable logs the groups that can't apply to any request.
func logUnenforceable(log *zap.Logger, p *enforce.Rules) {
	left := maxFindingsLogged
	logGroups := func(tokens []string, why string) {
		for _, token := range tokens {
			line := p.File().Named(token).Line()
			if layer, _ := p.Origin(line); layer == enforce.PolicyLayer {
				continue // the managed policy added the group on purpose
			}
			if left--; left < 0 {
				return
			}
			log.Warn("robots.txt has a group that no server can enforce",
				zap.String("token", clip(token)), zap.Int("line", line), zap.String("why", why))
		}
	}
	logGroups(p.Unenforceable(), "no User-Agent contains its token")
	logGroups(p.Ignored(), "browsers send its token, and rules do not apply to people")
}

// logMistakes logs the errors that the linter finds.
func logMistakes(log *zap.Logger, f *robots.File, registry *crawler.Registry) {
	n := 0
	for _, finding := range lint.Lint(f, findings.Crawlers(registry)) {
		if finding.Severity < lint.Error {
			continue
		}
		if n++; n <= maxFindingsLogged {
			log.Warn("robots.txt has a mistake",
				zap.Int("line", finding.Line), zap.Int("column", finding.Column), zap.String("text", clip(finding.Text)),
				zap.String("code", finding.Code), zap.String("problem", clip(finding.Message)))
		}
	}
	if more := n - maxFindingsLogged; more > 0 {
		log.Warn("robots.txt has more mistakes: run caddy robots lint to see them", zap.Int("not_logged", more))
	}
}

// logHiddenHeaders logs the X-Robots-Tag rules whose responses the file disallows,
// so that their crawlers never see the header.
func logHiddenHeaders(log *zap.Logger, tags []headers.Setting, f *robots.File, registry *crawler.Registry) {
	left := maxFindingsLogged
	findings.UnseenNoindex(tags, f, registry, func(t *headers.Setting, by *robots.Rule) {
		if left--; left >= 0 {
			log.Warn("robots.txt hides an X-Robots-Tag header from the crawlers that it is for",
				zap.Int("line", by.Line), zap.String("rule", clip(by.String())), zap.String("x_robots_tag", clip(t.String())))
		}
	})
}
