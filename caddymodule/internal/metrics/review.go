package metrics

import (
	"slices"
	"sync"
	"weak"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/findings"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// MaxFindings is the largest number of log lines of one kind about one file.
const MaxFindings = 10

// Bounds of a review.
const (
	maxReviews  = 256 // files that wait for their review
	maxReviewed = 64  // files that are remembered as reviewed
)

// review logs the lines of each loaded robots.txt that have no effect, or not the
// intended one, once for each file. It uses the crawlers in the registry and the
// header rules in tags, and calls more for each file. The linter may take a tenth
// of a second for the largest files, so a review runs in the background, one file
// at a time.
type review struct {
	log      *zap.Logger
	registry *crawler.Registry
	tags     []headers.Setting
	more     func(*zap.Logger, *enforce.Rules)

	mu      sync.Mutex
	queue   []func()                                 // reviews that wait, and the one that runs
	done    [maxReviewed]weak.Pointer[enforce.Rules] // origins with the same file share their rules
	next    int                                      // the next index in done
	closed  bool
	running sync.WaitGroup
}

// add queues rules for review, with the first origin that they are for. It does
// not block.
func (r *review) add(origin enforce.Origin, rules *enforce.Rules) {
	r.mu.Lock()
	defer r.mu.Unlock()
	this := weak.Make(rules)
	if r.closed || len(r.queue) >= maxReviews || slices.Contains(r.done[:], this) {
		return
	}
	r.done[r.next] = this
	r.next = (r.next + 1) % maxReviewed
	r.queue = append(r.queue, func() { r.run(r.log.With(originField(origin)), rules) })
	if len(r.queue) == 1 {
		r.running.Go(r.work)
	}
}

// work runs the queued reviews until the queue is empty.
func (r *review) work() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.queue) > 0 {
		next := r.queue[0]
		r.mu.Unlock()
		next()
		r.mu.Lock()
		r.queue = r.queue[min(1, len(r.queue)):] // Close empties it
	}
}

// run reviews rules.
func (r *review) run(log *zap.Logger, rules *enforce.Rules) {
	logMergeNotes(log, rules)
	logUnenforceable(log, rules)
	logMistakes(log, rules.File(), r.registry)
	logHiddenHeaders(log, r.tags, rules.File(), r.registry)
	if r.more != nil {
		r.more(log, rules)
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
	m := managed.MergedIn(p)
	if m == nil {
		return
	}
	for i, n := range m.Notes {
		if i == MaxFindings {
			log.Warn("the policy has more notes: run caddy robots policy to see them", zap.Int("not_logged", len(m.Notes)-i))
			break
		}
		log.Info("policy: "+n.Text(), zap.Strings("crawlers", n.Crawlers[:min(len(n.Crawlers), MaxFindings)]), zap.Int("of", len(n.Crawlers)),
			zap.String("detail", Clip(n.Detail)), zap.Int("site_line", n.SiteLine), zap.Int("line", n.Line))
	}
}

// logUnenforceable logs the groups that can't apply to any request.
func logUnenforceable(log *zap.Logger, p *enforce.Rules) {
	left := MaxFindings
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
				zap.String("token", Clip(token)), zap.Int("line", line), zap.String("why", why))
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
		if n++; n <= MaxFindings {
			log.Warn("robots.txt has a mistake",
				zap.Int("line", finding.Line), zap.Int("column", finding.Column), zap.String("text", Clip(finding.Text)),
				zap.String("code", finding.Code), zap.String("problem", Clip(finding.Message)))
		}
	}
	if more := n - MaxFindings; more > 0 {
		log.Warn("robots.txt has more mistakes: run caddy robots lint to see them", zap.Int("not_logged", more))
	}
}

// logHiddenHeaders logs the X-Robots-Tag rules whose responses the file disallows,
// so that their crawlers never see the header.
func logHiddenHeaders(log *zap.Logger, tags []headers.Setting, f *robots.File, registry *crawler.Registry) {
	left := MaxFindings
	findings.UnseenNoindex(tags, f, registry, func(t *headers.Setting, by *robots.Rule) {
		if left--; left >= 0 {
			log.Warn("robots.txt hides an X-Robots-Tag header from the crawlers that it is for",
				zap.Int("line", by.Line), zap.String("rule", Clip(by.String())), zap.String("x_robots_tag", Clip(t.String())))
		}
	})
}
