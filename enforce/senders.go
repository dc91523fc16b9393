package enforce

import (
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// senders goes through the crawlers that a request names: those of each
// User-Agent field, and the one that its signature proves. It lives on the
// stack, for which no field may point into it.
type senders struct {
	policy  *Policy
	request *Request
	fields  []string
	signer  *crawler.Crawler // nil without a signature that holds
	unnamed bool             // no field has named the signer yet
	tooMany bool

	id    crawler.Identity // what next found, unless extra is set
	extra []crawler.Agent
	store Evidence
	found bool // store is filled
}

// agents returns what next found.
func (s *senders) agents() []crawler.Agent {
	if s.extra != nil {
		return s.extra
	}
	return s.id.Agents()
}

// evidence returns what is known about the agents in addition to the
// User-Agent; nil where nothing else counts.
func (s *senders) evidence() *Evidence {
	if !s.found {
		return nil
	}
	return &s.store
}

// begin makes s ready for next.
func (s *senders) begin(p *Policy, r *Request) {
	s.policy, s.request = p, r
	s.fields, s.tooMany = r.fields()
	if r.Signed != nil && p.rules.Verification != nil {
		s.signer = s.findSigner()
		s.unnamed = s.signer != nil
	}
}

// findSigner returns the crawler that a signature of the request proves.
func (s *senders) findSigner() *crawler.Crawler {
	s.policy.Identify(s.fields[0], &s.id)
	var claim *crawler.Crawler
	if s.id.Len() > 0 {
		claim = s.id.At(0).Crawler
	}
	rules := s.policy.rules
	return s.request.Signed.row(rules.Verification, rules.Registry, claim, s.request)
}

// next finds the crawlers of the next field that names any, and reports
// whether there is one.
func (s *senders) next() bool {
	for len(s.fields) > 0 {
		s.policy.Identify(s.fields[0], &s.id)
		s.fields = s.fields[1:]
		if s.id.Len() == 0 {
			continue
		}
		if rules := s.policy.rules; rules.byEvidence {
			s.look()
			rules.addClaims(s.request, s.id.Agents(), s.signer, &s.store)
			s.unnamed = s.unnamed && !names(&s.id, s.signer)
		}
		return true
	}
	switch {
	case s.unnamed:
		s.unnamed = false
		s.look()
		s.extra = []crawler.Agent{signedAgent(s.signer)}
		s.store.Claims[0] = verify.Result{State: verify.Verified, Method: verify.SignatureMethod}
	case s.tooMany:
		s.tooMany = false
		s.extra, s.store.Claims[0] = manyFields, verify.Result{}
	default:
		return false
	}
	return true
}

// look finds out what does not depend on the User-Agent.
func (s *senders) look() {
	if !s.found {
		s.found = true
		s.policy.rules.fill(s.request, &s.store)
	}
}
