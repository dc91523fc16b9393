package mistakes

import (
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// Hosts finds the problems of files at hosts that only the pattern of a site names. One
// that all hosts of the site have in common is the site's. One of a single host is its
// tenant's, or clients have invented the host: it is no problem of the server. The zero
// Hosts is ready for use.
type Hosts struct{ sites map[site]*common }

type site struct {
	handler any // comparable
	name    string
}

// common is what all hosts of a site have in common.
type common struct {
	rules   *judge.Rules // nil if they have different ones
	problem statusapi.Problem
}

// Add adds the rules in force at a host, and their problem.
func (l *Hosts) Add(handler any, name string, rules *judge.Rules, problem statusapi.Problem) {
	if l.sites == nil {
		l.sites = make(map[site]*common)
	}
	problem.Subject = name
	c := l.sites[site{handler, name}]
	if c == nil {
		c = &common{rules, problem}
		l.sites[site{handler, name}] = c
	}
	if c.rules != rules {
		c.rules = nil
	}
	if c.problem.Message > problem.Message { // the same in each report
		c.problem = problem
	}
}

// Problems returns the problems of sites.
func (l *Hosts) Problems() (list []statusapi.Problem) {
	for _, c := range l.sites {
		if c.rules != nil && c.problem.Severity != "" {
			list = append(list, c.problem)
		}
	}
	return list
}
