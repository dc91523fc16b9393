package enforce

import (
	"fmt"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/robots"
)

// content is a source's answer, or what is in force instead of it. The same
// rules compile equal contents to equal policies.
type content struct {
	body    []byte
	state   Outcome // Loaded, Missing, NotRobots, Refused, Failed or Pending
	status  int     // the HTTP status code if state is Missing or Refused; otherwise 0
	denyAll bool    // the source fails, and Config.DenyFailed is set
	apart   bool    // see Response.Apart
}

// key returns the key of the policy in Origins.shared.
func (c *content) key() uint64 {
	key := xxhash.Sum64(c.body)*31 + uint64(c.status)<<8 + uint64(c.state)*4
	if c.denyAll {
		key += 2
	}
	if c.apart {
		key++
	}
	return key
}

// without returns the content of an answer that is not a robots.txt.
func without(out Outcome, status int) content {
	c := content{state: out}
	if out == Missing || out == Forbidden {
		c.status = status
	}
	return c
}

// policy compiles a content to a policy.
func (r *compiledSettings) rulesOf(c content) *Rules {
	var p *Rules
	switch c.state {
	case Loaded:
		p = r.compile(c)
	case Missing, NotRobots: // the file has only the lines of the managed policy
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

// publishes reports whether the managed policy has lines to publish.
func (r *compiledSettings) publishes() bool { return r.lines != nil && r.lines.Publishes() }

// merge makes and parses the text of a policy: the site's own file with the
// lines of the managed policy, if there are any and they can be merged.
func (p *Rules) merge(c content) {
	p.text = c.body
	if p.settings.publishes() && !c.apart {
		m, err := p.settings.lines.Merge(c.body, managed.Options{
			Dialect:   p.settings.Dialect,
			StarBinds: func(row *crawler.Crawler) bool { return p.settings.BoundByStar(row.Class, row) },
		})
		if err == nil {
			p.merged, p.text = m, m.Text
		}
		p.mergeErr = err
	}
	p.etag = fmt.Sprintf("%q", strconv.FormatUint(xxhash.Sum64(p.text), 36))
	p.file = robots.Parse(p.text, robots.WithDialect(p.settings.Dialect))
}

// Text returns the file that is in force: the site's own, with the lines of the
// managed policy. The caller must not change it.
func (p *Rules) Text() []byte { return p.text }

// Published reports whether Text has lines of the managed policy. If so,
// clients that request /robots.txt must receive Text, not the site's own file.
func (p *Rules) Published() bool { return p.merged != nil }

// publishedText returns Text if it has lines of the managed policy; otherwise
// nil.
func (p *Rules) publishedText() []byte {
	if p.merged == nil {
		return nil
	}
	return p.text
}

// Notes returns notes for the site's operator about how the lines of the managed
// policy were merged into the site's file.
func (p *Rules) Notes() []managed.Note {
	if p.merged == nil {
		return nil
	}
	return p.merged.Notes
}

// Beyond returns what the presets of the managed policy can't prevent, one
// sentence for each case.
func (p *Rules) Beyond() []string {
	if p.settings.lines == nil {
		return nil
	}
	return p.settings.lines.Beyond()
}

// MergeError returns why the lines of the managed policy are not in force. It
// returns nil if they are, or if there are none.
func (p *Rules) MergeError() error {
	if p.apart && p.settings.publishes() {
		return errApart
	}
	return p.mergeErr
}

var errApart = fmt.Errorf("requests for /robots.txt do not come through the handler with the policy, so the lines of the policy can't be published and are not in force")
