package enforce

import (
	"context"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// resolve returns the policy for a request. It is never nil: until one was
// read, its state is Pending.
func (e *Engine) resolve(ctx context.Context, r *Request) *Rules {
	policy := e.policies.Peek(r)
	if policy != nil && !e.policies.outdated(r) {
		return policy
	}
	if e.mayWait(r) {
		policy = e.policies.Wait(ctx, r)
	}
	if policy == nil {
		return e.policies.pending
	}
	return policy
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
	if e.rules.needsAddr() {
		info.evidence = &ev
		e.rules.fill(r, &ev)
	}
	for _, ua := range fields {
		var id crawler.Identity
		identities().Identify(e.rules.base, ua, &id)
		for i := range id.Len() {
			applicable = applicable || e.rules.couldApply(id.At(i), verify.Result{}, &info)
		}
	}
	if !applicable {
		return false
	}
	v := e.rules.viewsOf(r.Target)
	defer views.Put(v)
	return !e.rules.exemptPaths.MatchViews(v).Allowed
}
