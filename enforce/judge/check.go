package judge

import "strings"

// Check decides on a request by the path rules, and writes the decision to d. It
// is like Decide of the engine, but never waits, remembers nothing about earlier
// requests, and ignores rate limits and Visit-time.
func (p *Rules) Check(r *Request, d *Decision) { checkAfter(p, r, nil, d) }

// CheckFirst decides on a request to see what would happen to a crawler that
// sends it, as its first one. Of the limits, only Visit-time can refuse such a
// request. r must have exactly one User-Agent, which somebody typed: if it is
// only a product token, and names no crawler, CheckFirst decides for a crawler
// with that token, because no browser sends such a User-Agent.
//
// before has the rules that p replaces at that moment, compiled with the same
// Settings; it may be nil. The crawler has then read the earlier file, but not
// yet the one of p, so it can have a grace period.
func (p *Rules) CheckFirst(r *Request, before *Rules, d *Decision) {
	checkAfter(p, r, before, d)
	if d.Reason == Person && isProductToken(r.UserAgents[0]) {
		as := *r
		as.UserAgents = []string{"Mozilla/5.0 (compatible; " + r.UserAgents[0] + "/1.0)"}
		checkAfter(p, &as, before, d)
	}
	if d.Action != Pass {
		return
	}
	for i := range d.Len() {
		if l := d.At(i).Limits; l != nil {
			if res := l.First(r.Time); !res.OK {
				d.Blame(i)
				d.Throttle(res)
				break
			}
		}
	}
}

// checkAfter is Check for a request at the moment at which p replaces before.
func checkAfter(p *Rules, r *Request, before *Rules, d *Decision) {
	var c Client
	c.Begin(r, p)
	for c.Next() {
		if before == nil {
			continue
		}
		at := r.Time.UnixNano()
		c.Earlier = []Version{{Rules: before, To: at}}
		for i := range c.Agents() {
			if c.HasGrace(i) {
				c.MayHold[i] = 1
			}
		}
	}
	c.Judge(d)
}

// isProductToken reports whether a User-Agent is a product token alone.
func isProductToken(agent string) bool {
	return agent != "" && strings.Trim(agent, productTokenOctets) == ""
}

// productTokenOctets are the octets that RFC 9309, section 2.2.1, allows in a
// product token, and also digits and dots, which real tokens have.
const productTokenOctets = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-0123456789."
