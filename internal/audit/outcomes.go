package audit

import (
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// outcomes counts what enforcing the rules would have done, for Report.WouldHave.
type outcomes struct {
	judged, denied, throttled, browsers int64
	search, searchVerified              int64
	reasons, purposes                   *counter
}

func newOutcomes() *outcomes {
	return &outcomes{reasons: newCounter(enforce.Reasons), purposes: newCounter(maxNames)}
}

// countRequest counts a request, whatever the verdict.
func (o *outcomes) countRequest(v *judgement) {
	if v.source != nil {
		v.source.requests++
		o.judged++
	}
}

// countRefused counts a request of a crawler that is refused.
func (o *outcomes) countRefused(v *judgement) {
	if v.now.Action == enforce.Deny {
		o.denied++
	} else {
		o.throttled++
	}
	*o.reasons.of(v.now.Reason.String())++
	*o.purposes.of(v.crawler.purpose())++
	if v.crawler.isSearch() {
		o.search++
		if v.now.Claim.State == verify.Verified {
			o.searchVerified++
		}
	}
	if v.isBrowser() {
		o.browsers++
	}
}

// report adds the outcomes to the report.
func (o *outcomes) report(r *Report) {
	r.WouldHave = WouldHave{
		Judged: o.judged, Refused: o.denied + o.throttled, Denied: o.denied, Throttled: o.throttled, Browsers: o.browsers,
		Search: o.search, SearchVerified: o.searchVerified, Reasons: o.reasons.top(maxNames), Purposes: o.purposes.top(maxNames),
	}
}
