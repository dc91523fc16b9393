package metrics

import (
	"maps"
	"sync"
	"time"
	"weak"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/findings"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/mistakes"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/internal/background"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// MaxFindings is the largest number of log lines of one kind about one file.
const MaxFindings = 10

// Bounds of a review.
const (
	maxReviews  = 10_000 // files that wait for their review
	maxReviewed = 10_000 // files that are remembered as reviewed
)

// reviewPause is the time between two reviews, as a multiple of the first one's. Tests
// change it.
var reviewPause = time.Duration(100)

// review logs the lines of each loaded robots.txt that have no effect, or not the
// intended one. It uses the crawlers in the registry and the header rules in tags,
// and calls more for each file.
type review struct {
	log      *zap.Logger
	registry *crawler.Registry
	tags     []headers.Setting
	more     func(*zap.Logger, *judge.Rules)

	running sync.Mutex // held while a file is reviewed
	closed  bool       // guarded by running
}

// reviews reviews the files of all sites in the background: one at a time, with
// pauses, since the linter may take a tenth of a second for the largest ones; and
// each once,
// since sites with the same settings and file share their rules, even after a
// reload.
var reviews = struct {
	sync.Mutex
	waiting map[*judge.Rules]waiting
	queue   []*judge.Rules
	done    map[weak.Pointer[judge.Rules]]*mistakes.Review // nil while it runs
	working background.Group
}{waiting: make(map[*judge.Rules]waiting), done: make(map[weak.Pointer[judge.Rules]]*mistakes.Review)}

// waiting is a review that waits.
type waiting struct {
	*review
	origin judge.Origin
}

// add queues rules for review, with the first origin that they are for. It does
// not block. If the rules wait already, for a configuration that may end, r takes
// its place.
func (r *review) add(origin judge.Origin, rules *judge.Rules) {
	all := &reviews
	all.Lock()
	defer all.Unlock()
	known, waits := all.waiting[rules]
	_, done := all.done[weak.Make(rules)]
	if known.review == r || !waits && len(all.queue) >= maxReviews || done {
		return
	}
	if all.waiting[rules] = (waiting{r, origin}); waits {
		return
	}
	if all.queue = append(all.queue, rules); len(all.queue) == 1 {
		all.working.Go("robots.txt: reviews", reviewAll)
	}
}

// reviewAll reviews the queued files, with pauses.
func reviewAll() {
	for began := time.Now(); reviewNext(); began = time.Now() {
		time.Sleep(reviewPause * time.Since(began))
	}
}

// reviewNext reviews the first of the queued files. It reports whether there are more.
func reviewNext() (more bool) {
	all := &reviews
	all.Lock()
	next := all.queue[0]
	one := all.waiting[next]
	delete(all.waiting, next)
	all.Unlock()
	_ = background.Run("robots.txt: a review", func() { one.run(one.origin, next) })
	all.Lock()
	defer all.Unlock()
	all.queue[0], all.queue = nil, all.queue[1:]
	if more = len(all.queue) > 0; !more {
		all.queue = nil
	}
	return more
}

// ReviewOf returns what a review found in a file; nil if it was not reviewed yet.
func ReviewOf(rules *judge.Rules) *mistakes.Review {
	reviews.Lock()
	defer reviews.Unlock()
	return reviews.done[weak.Make(rules)]
}

// remember remembers what a review found, nil when it begins.
func remember(rules *judge.Rules, found *mistakes.Review) {
	all := &reviews
	all.Lock()
	defer all.Unlock()
	if len(all.done) >= maxReviewed {
		maps.DeleteFunc(all.done, func(p weak.Pointer[judge.Rules], _ *mistakes.Review) bool { return p.Value() == nil })
	}
	if len(all.done) >= maxReviewed {
		clear(all.done)
	}
	all.done[weak.Make(rules)] = found
}

// run reviews rules, unless they are reviewed or r is closed.
func (r *review) run(origin judge.Origin, rules *judge.Rules) {
	r.running.Lock()
	defer r.running.Unlock()
	if r.closed || ReviewOf(rules) != nil {
		return
	}
	remember(rules, nil)
	all := lint.Lint(rules.File(), findings.Crawlers(r.registry))
	remember(rules, mistakes.Find(rules, all))
	log := r.log.With(originField(origin))
	logMergeNotes(log, rules)
	logUnenforceable(log, rules)
	logMistakes(log, rules, all)
	logHiddenHeaders(log, r.tags, rules, r.registry)
	if r.more != nil {
		r.more(log, rules)
	}
}

// Close ends the reviews of r. It waits for the one that runs.
func (r *review) Close() error {
	r.running.Lock()
	defer r.running.Unlock()
	r.closed = true
	return nil
}

// logMergeNotes logs the notes about the merge of the policy.
func logMergeNotes(log *zap.Logger, p *judge.Rules) {
	m := managed.MergedIn(p)
	if m == nil {
		return
	}
	for i, n := range m.Notes {
		if i == MaxFindings {
			log.Warn("the policy has more notes: run caddy robots policy to see them", zap.Int("not_logged", len(m.Notes)-i))
			break
		}
		log.Info("the policy has a note: "+n.Text(), zap.Strings("crawlers", n.Crawlers[:min(len(n.Crawlers), MaxFindings)]),
			zap.Int("of", len(n.Crawlers)),
			zap.String("detail", Clip(n.Detail)), zap.Int("site_line", n.SiteLine), zap.Int("line", n.Line))
	}
}

// placeOf returns the fields for a line of the text in force: the line of robots.txt, and
// the column unless it is 0; or file and line of the configuration that has it. There, the column
// is not known, because Caddy removes the indentation of a heredoc.
func placeOf(p *judge.Rules, line, column int) zap.Field {
	layer, at := p.Origin(line)
	return zap.Inline(zapcore.ObjectMarshalerFunc(func(e zapcore.ObjectEncoder) error {
		if file := p.FileOf(layer); file != "robots.txt" {
			e.AddString("file", file)
		} else if column > 0 {
			e.AddInt("column", column)
		}
		e.AddInt("line", at)
		return nil
	}))
}

// logUnenforceable logs the groups that can't apply to any request.
func logUnenforceable(log *zap.Logger, p *judge.Rules) {
	left := MaxFindings
	logGroups := func(tokens []string, why string) {
		for _, token := range tokens {
			line := p.File().Named(token).Line()
			if layer, _ := p.Origin(line); layer == judge.PolicyLayer {
				continue // the policy added the group on purpose
			}
			if left--; left < 0 {
				return
			}
			log.Warn("robots.txt has a group that no server can enforce", placeOf(p, line, 0),
				zap.String("token", Clip(token)), zap.String("why", why))
		}
	}
	logGroups(p.Unenforceable(), "no User-Agent contains its token")
	logGroups(p.Ignored(), "browsers send its token, and rules do not apply to people")
}

// logMistakes logs the errors that the linter finds, and the other findings that cost a
// rule.
func logMistakes(log *zap.Logger, rules *judge.Rules, all []lint.Finding) {
	n := 0
	for _, finding := range all {
		if finding.Severity < lint.Error && !mistakes.Costs(rules, &finding) {
			continue
		}
		if n++; n <= MaxFindings {
			log.Warn("robots.txt has a mistake", placeOf(rules, finding.Line, finding.Column), zap.String("text", Clip(finding.Text)),
				zap.String("code", finding.Code), zap.String("problem", Clip(finding.Message)))
		}
	}
	if more := n - MaxFindings; more > 0 {
		log.Warn("robots.txt has more mistakes: run caddy robots lint to see them", zap.Int("not_logged", more))
	}
}

// logHiddenHeaders logs the X-Robots-Tag rules whose responses the file disallows,
// so that their crawlers never see the header.
func logHiddenHeaders(log *zap.Logger, tags []headers.Setting, rules *judge.Rules, registry *crawler.Registry) {
	left := MaxFindings
	findings.UnseenNoindex(tags, rules.File(), registry, func(t *headers.Setting, by robots.Rule) {
		if left--; left >= 0 {
			log.Warn("robots.txt hides an X-Robots-Tag header from the crawlers that it is for", placeOf(rules, by.Line, 0),
				zap.String("rule", Clip(by.String())), zap.String("x_robots_tag", Clip(t.String())))
		}
	})
}
