package enforce

import (
	"fmt"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/managed"
	"github.com/caddy-robots/caddy-robots/robots"
)

// content is a source's answer, or what is in force instead of it. Policies
// with equal content are equal.
type content struct {
	body    []byte
	state   Outcome // Loaded, Missing, NotRobots, Refused, Failed or Pending
	denyAll bool    // the source fails, and the operator has crawlers refused then
	apart   bool    // the operator's lines can't be published with the file
}

// key is the key of a policy among those that origins share.
func (c *content) key() uint64 {
	key := xxhash.Sum64(c.body)*31 + uint64(c.state)*4
	if c.denyAll {
		key += 2
	}
	if c.apart {
		key++
	}
	return key
}

// policy returns the policy made from a content under the rules.
func (r *compiledRules) policy(c content) *Policy {
	var p *Policy
	switch c.state {
	case Loaded:
		p = r.compile(c)
	case Missing, NotRobots: // the operator's lines are the file
		if c.body = nil; r.publishes() && !c.apart {
			p = r.compile(c)
			break
		}
		p = r.empty(c.state)
	default:
		p = r.empty(c.state)
	}
	p.content = c
	return p
}

// publishes reports whether the operator has lines to publish.
func (r *compiledRules) publishes() bool { return r.lines != nil && r.lines.Publishes() }

// merge makes the text of a policy: the site's own, with the operator's lines
// where there are any and they can be merged.
func (p *Policy) merge(c content) {
	p.text = c.body
	if p.rules.publishes() && !c.apart {
		m, err := p.rules.lines.Merge(c.body, managed.Options{
			Dialect:   p.rules.Dialect,
			StarBinds: func(row *crawler.Crawler) bool { return p.rules.BoundByStar(row.Class, row) },
		})
		if err == nil {
			p.merged, p.text = m, m.Text
		}
		p.mergeErr = err
	}
	p.etag = fmt.Sprintf("%q", strconv.FormatUint(xxhash.Sum64(p.text), 36))
	p.file = robots.Parse(p.text, robots.WithDialect(p.rules.Dialect))
}

// Text returns the octets of the file that is in force: the site's own, with
// the lines of the operator's policy. They must not be changed.
func (p *Policy) Text() []byte { return p.text }

// Published reports whether Text has lines of the operator's policy, so that
// it, and not the site's own file, is to be published.
func (p *Policy) Published() bool { return p.merged != nil }

// publishedText is Text where it has lines of the operator's policy, else nil.
func (p *Policy) publishedText() []byte {
	if p.merged == nil {
		return nil
	}
	return p.text
}

// Notes are information for the operator about how the policy's lines were
// merged into the site's file.
func (p *Policy) Notes() []managed.Note {
	if p.merged == nil {
		return nil
	}
	return p.merged.Notes
}

// Beyond returns what the presets of the operator's policy can't prevent.
func (p *Policy) Beyond() []string {
	if p.rules.lines == nil {
		return nil
	}
	return p.rules.lines.Beyond()
}

// MergeError returns why the lines of the operator's policy are not in force;
// nil if they are, or if there are none.
func (p *Policy) MergeError() error {
	if p.apart && p.rules.publishes() {
		return errApart
	}
	return p.mergeErr
}

var errApart = fmt.Errorf("requests for /robots.txt do not come through the handler that has the policy: its lines can't be published, so they are not in force")
