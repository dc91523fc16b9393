package enforce

import (
	"context"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// resolve returns the policy by which a request is judged. It is never nil:
// while none was read, it is one of state Pending.
func (e *Engine) resolve(ctx context.Context, r *Request) *Policy {
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

// mayWait reports whether the client may be made to wait for a policy: it is a
// crawler that a robots.txt could bind, and asks for a path that is not
// exempt. Only the registry's tokens count, for the site's own are not known
// yet.
func (e *Engine) mayWait(r *Request) bool {
	fields, tooMany := r.fields()
	bindable := tooMany
	ask := r.ask()
	var ev Evidence
	if e.rules.needsAddr() {
		ask.Evidence = &ev
		e.rules.fill(r, &ev)
	}
	for _, ua := range fields {
		var id crawler.Identity
		identities().Identify(e.rules.base, ua, &id)
		for i := range id.Len() {
			bindable = bindable || e.rules.bindable(id.At(i), verify.Result{}, &ask)
		}
	}
	if !bindable {
		return false
	}
	v := e.rules.viewsOf(r.Target)
	defer views.Put(v)
	return !e.rules.exemptPaths.MatchViews(v).Allowed
}
