package audit

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/audit/mask"
	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

// Replayed is a request of a log with the decisions on it by several versions of a
// site. Its strings are valid only during the call that gets it.
type Replayed struct {
	Target, Host, Client, Referer string
	Status                        int
	cost.Sum
	// Decisions are those by each version, in the order of the versions.
	Decisions []judge.Decision
}

// clone returns a copy that does not share the memory of the line.
func (r *Replayed) clone() *Replayed {
	c := *r
	for _, s := range []*string{&c.Target, &c.Host, &c.Client, &c.Referer} {
		*s = strings.Clone(mask.Shortened(*s))
	}
	c.Decisions = slices.Clone(r.Decisions)
	return &c
}

// Judged is a request of a log. Its strings are valid only during the call that gets it.
type Judged struct {
	*logfile.Log // its current line is that of the request
	Host         string
	Rules        *judge.Rules    // that were in force; nil if no robots.txt is known
	By           *judge.Decision // by Rules, apart from limits of the pace
}

// Each reads the logs and calls each for every request, nearly in the order of their times. The report that it returns
// has only what concerns the logs and the robots.txt files.
func Each(ctx context.Context, o Options, each func(*Judged)) (*Report, error) {
	a, err := newAuditor(ctx, o)
	if err != nil {
		return nil, err
	}
	defer a.logs.Close()
	var j Judged
	err = a.eachRequest(ctx, func(l *logfile.Log) {
		rules, v := a.judge(l), &a.current
		a.outcomes.countRequest(v)
		if j = (Judged{l, v.host.Name, nil, &v.now}); v.source != nil {
			j.Rules = rules
		}
		each(&j)
	})
	if err = cmp.Or(err, a.inputs.check()); err != nil {
		return nil, err
	}
	r := &Report{}
	a.inputs.report(r)
	for _, src := range a.allSources() {
		one, _ := src.report()
		r.Sources = append(r.Sources, one)
	}
	r.Warnings = a.warnings(r)
	return r, nil
}

// Replay reads the logs again, and calls each for the requests to the site with an
// index in o.Sites, nearly in the order of their times. versions are versions of this
// site that decide about each request, with the first robots.txt of each from the
// beginning of the log on. The logs must not be such as can be read only once.
func Replay(ctx context.Context, o Options, index int, versions []Site, each func(*Replayed)) error {
	o.Was, o.Verify = nil, false // the checkers of Run have the results
	a, err := newAuditor(ctx, o)
	if err != nil {
		return err
	}
	defer a.logs.Close()
	timelines := make([]*timeline, len(versions))
	for i := range versions {
		timelines[i], err = newTimeline(&versions[i])
		if err != nil {
			return err
		}
	}
	a.pacer.settle = func(v *judgement) {
		for i := range v.replayed.Decisions {
			if d := &v.replayed.Decisions[i]; d.Paced() {
				timelines[i].paceOther(v, d)
			}
		}
		each(v.replayed)
	}
	current := Replayed{Decisions: make([]judge.Decision, len(versions))} // memory for the current line
	err = a.eachRequest(ctx, func(l *logfile.Log) {
		e, v := &l.Entry, &a.current
		if v.host.site != a.sites[index] {
			return
		}
		current = Replayed{Target: e.Target, Host: v.host.Name, Client: e.Client, Referer: e.Referer, Status: e.Status,
			Sum: costOf(e), Decisions: current.Decisions}
		v.replayed = &current
		paced := false
		for i, t := range timelines {
			t.decide(e, &v.request, &current.Decisions[i])
			paced = paced || current.Decisions[i].Paced()
		}
		if paced && v.timed {
			a.pacer.add(v.clone(), a.clock)
		} else {
			a.pacer.settle(v)
		}
	})
	if err != nil {
		return err
	}
	a.pacer.release(math.MaxInt64)
	return nil
}
