package enforce

import "hash/maphash"

// content is a source's answer, or what is in force instead of it. The same
// settings compile equal contents to equal rules.
type content struct {
	body    []byte
	state   Outcome // Loaded, Missing, NotRobots, Forbidden, Redirected, Failed or Pending
	status  int     // the HTTP status code if state is Missing or Forbidden; otherwise 0
	denyAll bool    // the source fails, and Config.DenyFailed is set
	apart   bool    // see Response.Apart
}

// key returns a hash of the content.
func (c *content) key() uint64 {
	key := maphash.Bytes(hashSeed, c.body)*31 + uint64(c.status)<<8 + uint64(c.state)*4
	if c.denyAll {
		key += 2
	}
	if c.apart {
		key++
	}
	return key
}

// without returns the content of an answer that is not a robots.txt.
func without(out Outcome, resp Response) content {
	c := content{state: out, apart: resp.Apart}
	if out == Missing || out == Forbidden {
		c.status = resp.Status
	}
	return c
}

// rulesKey says which rules are equal, apart from a collision of content.
type rulesKey struct {
	settings *compiledSettings
	content  uint64
}

var allRules interned[rulesKey, Rules]

// rulesOf compiles a content to rules. All origins with the same settings and file
// share them, so that hosts that clients invent need little memory.
func (s *compiledSettings) rulesOf(c content) *Rules {
	if c.state != Loaded {
		c.body = nil // the file has only the lines of the operator
	}
	rules, _ := allRules.get(rulesKey{s, c.key()}, func() (*Rules, error) { return s.newRules(c), nil })
	return rules
}

// newRules is rulesOf for rules that are not shared.
func (s *compiledSettings) newRules(c content) *Rules {
	if c.state == Loaded || s.publishes() && !c.apart {
		return s.compile(c)
	}
	return s.empty(c)
}
