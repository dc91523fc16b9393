package audit

import (
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// outcomes counts what enforcing the rules would have done, for Report.WouldHave.
type outcomes struct {
	WouldHave
	reasons, purposes counter
}

// countRequest counts a request, whatever the verdict.
func (o *outcomes) countRequest(v *judgement) {
	if v.source != nil {
		v.source.Requests++
		o.Judged++
	}
}

// countRefused counts a request of a crawler that is refused.
func (o *outcomes) countRefused(v *judgement) {
	if v.now.Action == enforce.Deny {
		o.Denied++
	} else {
		o.Throttled++
	}
	*o.reasons.of(v.now.Reason.String())++
	purpose := ""
	if purposes := v.crawler.Purposes; len(purposes) > 0 && v.now.Claim.State != verify.Impostor {
		purpose = purposes[0]
	}
	*o.purposes.of(purpose)++
	if v.crawler.isSearch() && v.now.Claim.State != verify.Impostor {
		o.Search++
		if v.now.Claim.State == verify.Verified {
			o.SearchVerified++
		}
	}
	if v.isBrowser() {
		o.Browsers++
	}
}

// report adds the outcomes to the report.
func (o *outcomes) report(r *Report) {
	r.WouldHave = o.WouldHave
	r.WouldHave.Refused = o.Denied + o.Throttled
	r.WouldHave.Reasons, r.WouldHave.Purposes = o.reasons.top(maxNames), o.purposes.top(maxNames)
}
