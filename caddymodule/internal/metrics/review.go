package metrics

import (
	"slices"
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
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// MaxFindings is the largest number of log lines of one kind about one file.
const MaxFindings = 10

// maxWaiting is how many files of a site wait for their review. Beyond it, the largest one
// is not reviewed.
const maxWaiting = 1000

// Times between two reviews, as multiples of the time that the first one took: at one
// site, and at different sites. Tests change them.
var (
	sitePause = time.Duration(100)
	turnPause = time.Duration(4)
)

// waiting is a file that waits for its review. It does not keep the rules in memory: an
// origin that was dropped meanwhile needs no review.
type waiting struct {
	rules  weak.Pointer[judge.Rules]
	origin judge.Origin // the first one that they are for
	size   int
}

// reviews are made in the background: one at a time, with pauses, since the linter may
// take a tenth of a second for the largest files. Each site has its own queue, so that a
// site with many or large files does not delay the others. A file is reviewed once, since
// sites with the same settings and file share their rules, even after a reload.
var reviews = struct {
	turn    chan struct{} // taken while one runs, and for a pause after it
	working background.Group
}{turn: make(chan struct{}, 1)}

// add queues rules for review, with the first origin that they are for. It does not block.
func (o *Reads) add(origin judge.Origin, rules *judge.Rules) {
	o.mu.Lock()
	defer o.mu.Unlock()
	next := waiting{weak.Make(rules), origin, len(rules.Text())}
	if ReviewOf(rules) != nil || slices.ContainsFunc(o.waiting, func(w waiting) bool { return w.rules == next.rules }) {
		return
	}
	o.waiting = append(o.waiting, next)
	if len(o.waiting) > maxWaiting {
		largest := slices.MaxFunc(o.waiting, bySize)
		o.waiting = slices.DeleteFunc(o.waiting, func(w waiting) bool { return w == largest })
	}
	if !o.working {
		o.working = true
		reviews.working.Go("robots.txt: reviews", o.reviewAll)
	}
}

func bySize(a, b waiting) int { return a.size - b.size }

// reviewAll reviews the files of the site that wait, with pauses.
func (o *Reads) reviewAll() {
	for {
		reviews.turn <- struct{}{}
		began := time.Now()
		origin, rules := o.take()
		if rules == nil {
			<-reviews.turn
			return
		}
		_ = background.Run("robots.txt: a review", func() { o.run(origin, rules) })
		rules = nil // needs no memory during the pauses
		took := time.Since(began)
		time.Sleep(turnPause * took)
		<-reviews.turn
		time.Sleep((sitePause - turnPause) * took)
	}
}

// take takes the smallest of the files that wait: who has large ones delays only these.
// If there is none, the rules are nil, and the next add begins again.
func (o *Reads) take() (judge.Origin, *judge.Rules) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.waiting) > 0 {
		next := slices.MinFunc(o.waiting, bySize)
		o.waiting = slices.DeleteFunc(o.waiting, func(w waiting) bool { return w == next })
		if rules := next.rules.Value(); rules != nil {
			return next.origin, rules
		}
	}
	o.working = false
	return judge.Origin{}, nil
}

// ReviewOf returns what a review found in a file; nil if it was not reviewed yet.
func ReviewOf(rules *judge.Rules) *mistakes.Review {
	found, _ := rules.Note.Load().(*mistakes.Review)
	return found
}

// Review returns what a review finds in a file, also if it waits for one. It takes time.
func Review(rules *judge.Rules, registry *crawler.Registry) *mistakes.Review {
	if found := ReviewOf(rules); found != nil {
		return found
	}
	return mistakes.Find(rules, lint.Lint(rules.File(), findings.Crawlers(registry)))
}

// run reviews rules, unless they are reviewed or o is closed.
func (o *Reads) run(origin judge.Origin, rules *judge.Rules) {
	o.running.Lock()
	defer o.running.Unlock()
	if o.closed || ReviewOf(rules) != nil {
		return
	}
	all := lint.Lint(rules.File(), findings.Crawlers(o.registry))
	rules.Note.Store(mistakes.Find(rules, all))
	log := o.log.With(originField(origin))
	logUnenforceable(log, rules)
	logMistakes(log, rules, all)
	logHiddenHeaders(log, o.tags, rules, o.registry)
	if o.more != nil {
		o.more(log, rules)
	}
}

// Close ends the reviews of o. It waits for the one that runs.
func (o *Reads) Close() error {
	o.running.Lock()
	defer o.running.Unlock()
	o.closed = true
	return nil
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
			if layer, _ := p.Origin(line); layer != judge.FileLayer {
				continue // the operator added the group on purpose
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
