package audit

import (
	"cmp"
	"context"
	"math"

	"github.com/caddy-robots/caddy-robots/internal/logformat"
)

// Each reads the logs and calls each for every request, nearly in the order of their times.
// The decisions are without limits of the pace. The report that it returns has only what
// concerns the logs and the robots.txt files.
func Each(ctx context.Context, o Options, each func(*Judged)) (*Report, error) {
	a, err := newAuditor(ctx, o)
	if err != nil {
		return nil, err
	}
	defer a.logs.Close()
	err = a.eachRequest(ctx, func(e *logformat.Entry, v *Judged) {
		a.reliability.count(e)
		v.decide(v.host.lines)
		a.outcomes.countRequest(v)
		each(v)
	})
	if err = cmp.Or(err, a.inputs.check()); err != nil {
		return nil, err
	}
	r := &Report{}
	a.inputs.report(r)
	for i, src := range a.allSources() {
		one, _ := src.report(i)
		r.Sources = append(r.Sources, one)
	}
	r.Warnings = a.warnings(r)
	return r, nil
}

// Replay reads the logs again, and calls each for the requests to the site with an
// index in o.Sites, nearly in the order of their times. versions are versions of this
// site that decide about each request, with the first robots.txt of each from the
// beginning of the log on. The logs must not be such as can be read only once.
func Replay(ctx context.Context, o Options, index int, versions []Site, each func(*Judged)) error {
	o.Against, o.Verify = false, false // the checkers of Run have the results
	a, err := newAuditor(ctx, o)
	if err != nil {
		return err
	}
	defer a.logs.Close()
	lines := make([]*timeline, len(versions))
	for i := range versions {
		lines[i], err = newTimeline(&versions[i], versions[i].Robots)
		if err != nil {
			return err
		}
	}
	a.pacer.settle = each
	err = a.eachRequest(ctx, func(_ *logformat.Entry, v *Judged) {
		if v.host.site == a.sites[index] {
			v.decide(lines)
			a.pacer.add(v, a.clock)
		}
	})
	a.pacer.release(math.MaxInt64)
	return err
}
