package enforce

import (
	"context"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// resolve returns the policy for a request. It is never nil: until one was
// read, its state is Pending.
func (e *Engine) resolve(ctx context.Context, r *Request) *Rules {
	rules := e.origins.Peek(r)
	if rules != nil && !e.origins.outdated(r) {
		return rules
	}
	if e.mayWait(r) {
		rules = e.origins.Wait(ctx, r)
	}
	if rules == nil {
		return e.origins.pending
	}
	return rules
}

// mayWait reports whether a request may wait for the policy: a robots.txt could
// apply to the client, and the path is not exempt. Only the registry's tokens
// identify the client here, because the tokens of the site's file are not known
// yet.
func (e *Engine) mayWait(r *Request) bool {
	fields, tooMany := r.fields()
	applicable := tooMany
	info := r.info()
	var ev evidence
	if e.settings.needsAddr() {
		info.evidence = &ev
		e.settings.fill(r, &ev)
	}
	for _, ua := range fields {
		var id crawler.Identity
		identities().Identify(e.settings.base, ua, &id)
		for i := range id.Len() {
			applicable = applicable || e.settings.couldApply(id.At(i), verify.Result{}, &info)
		}
	}
	if !applicable {
		return false
	}
	v := e.settings.viewsOf(r.Target)
	defer views.Put(v)
	return !e.settings.exemptPaths.MatchViews(v).Allowed
}
