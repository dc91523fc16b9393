package judge

import (
	"slices"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// Names are the clients that a robots.txt names. They outlive its rules where these had
// to be dropped, so that a client that only a group with its name binds waits while the
// file is read again, like other crawlers. The zero value has none.
type Names struct {
	matcher *crawler.Matcher
	rows    []int32 // crawlers of the registry
	octets  int64
}

// Size returns the octets of memory that n takes; 0 for the zero value.
func (n *Names) Size() int64 { return n.octets }

// namesSize is the size of a Names in a map, in octets, without its names.
const namesSize = 150

// Names returns the clients that the file names, if they are more than those that the
// rules without it know.
func (p *Rules) Names(pending *Rules) Names {
	if p == pending {
		return Names{}
	}
	n := Names{matcher: p.matcher, octets: namesSize}
	if n.matcher != pending.matcher {
		n.octets += p.names
	}
	for _, named := range p.named {
		if _, known := pending.find(named.row); !known {
			n.rows = append(n.rows, named.row)
			n.octets += 4
		}
	}
	return n
}

// WithNames returns rules without a file that know names. They are p if that makes no
// difference.
func (p *Rules) WithNames(n Names) *Rules {
	if n.octets == 0 || n.matcher == p.matcher && n.rows == nil {
		return p
	}
	rules := p.settings.newRules(Content{Outcome: Pending})
	known := *rules.document
	known.matcher, known.names = n.matcher, n.octets-namesSize-4*int64(len(n.rows))
	rules.document, rules.named = &known, slices.Clone(rules.named)
	for _, row := range n.rows {
		rules.named = append(rules.named, namedPlan{row, namedBefore})
	}
	slices.SortFunc(rules.named, func(a, b namedPlan) int { return int(a.row - b.row) })
	return rules
}
