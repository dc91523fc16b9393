package enforce

import (
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// senders iterates over the crawlers that a request names: those of each
// User-Agent field, and the one that its signature proves. No field may point
// into the struct itself, so that it stays on the stack.
type senders struct {
	rules   *Rules
	request *Request
	fields  []string
	signer  *crawler.Crawler // nil if no signature proves a crawler
	unnamed bool             // no field so far has named the signer
	tooMany bool

	id          crawler.Identity // what next found, unless extra is set
	extra       []crawler.Agent
	ev          evidence
	hasEvidence bool // ev is set
}

// agents returns the crawlers that next found.
func (s *senders) agents() []crawler.Agent {
	if s.extra != nil {
		return s.extra
	}
	return s.id.Agents()
}

// evidence returns what is known about the agents in addition to the
// User-Agent; nil if only the User-Agent counts.
func (s *senders) evidence() *evidence {
	if !s.hasEvidence {
		return nil
	}
	return &s.ev
}

// begin prepares s for next.
func (s *senders) begin(p *Rules, r *Request) {
	s.rules, s.request = p, r
	s.fields, s.tooMany = r.fields()
	if r.Signed != nil && p.settings.Verification != nil {
		s.signer = s.findSigner()
		s.unnamed = s.signer != nil
	}
}

// findSigner returns the crawler that a signature of the request proves.
func (s *senders) findSigner() *crawler.Crawler {
	s.rules.Identify(s.fields[0], &s.id)
	var claim *crawler.Crawler
	if s.id.Len() > 0 {
		claim = s.id.At(0).Crawler
	}
	rules := s.rules.settings
	return s.request.Signed.row(rules.Verification, rules.Registry, claim, s.request)
}

// next finds the crawlers of the next field that names any. It reports whether
// there is such a field.
func (s *senders) next() bool {
	for len(s.fields) > 0 {
		s.rules.Identify(s.fields[0], &s.id)
		s.fields = s.fields[1:]
		if s.id.Len() == 0 {
			continue
		}
		if rules := s.rules.settings; rules.byEvidence {
			s.loadEvidence()
			rules.addClaims(s.request, s.id.Agents(), s.signer, &s.ev)
			s.unnamed = s.unnamed && !names(&s.id, s.signer)
		}
		return true
	}
	switch {
	case s.unnamed:
		s.unnamed = false
		s.loadEvidence()
		s.extra = []crawler.Agent{signedAgent(s.signer)}
		s.ev.claims[0] = verify.Result{State: verify.Verified, Method: verify.SignatureMethod}
	case s.tooMany:
		s.tooMany = false
		s.extra, s.ev.claims[0] = tooManyFields, verify.Result{}
	default:
		return false
	}
	return true
}

// loadEvidence sets the evidence that does not depend on the User-Agent, once.
func (s *senders) loadEvidence() {
	if !s.hasEvidence {
		s.hasEvidence = true
		s.rules.settings.fill(s.request, &s.ev)
	}
}
