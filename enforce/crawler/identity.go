package crawler

import "strings"

// MaxAgents is the number of crawlers that one User-Agent can name. More are left out.
const MaxAgents = 8

// MaxUserAgent is the number of octets of a User-Agent that are read. A longer one is no person's: the longest of 227,618 browsers' has
// 681 octets.
const MaxUserAgent = 2048

// Agent is one crawler that a User-Agent names.
type Agent struct {
	Class   Class
	Crawler *Crawler // nil unless it is in the registry

	// Token is what robots.txt groups are looked up by first, before Crawler.Robots: the registry's User-Agent token, the site's
	// token in lower case, or the product token as the User-Agent has it. Empty only for an empty User-Agent.
	Token string

	Start, End int    // the octets of the User-Agent that decided
	Reason     Reason // why they did; Reason.Strength says how sure that is
}

// RunByAnyone reports whether the User-Agent is that of software which anyone
// can run, so that two clients that send it may be unrelated: crawlers that the
// registry marks so, HTTP libraries, and programs that send only their name. A
// self-declared robot that is in no list is assumed to have one operator.
func (a *Agent) RunByAnyone() bool {
	if a.Crawler != nil && a.Crawler.RunBy != UnknownRunner {
		return a.Crawler.RunBy == ByAnyone
	}
	return a.Class == Library || a.Class == Program || a.Class == Offline
}

// Identity is the sender of a User-Agent: a person, or one or several crawlers.
// It is a plain value; the zero value is a person.
type Identity struct {
	n      int
	agents [MaxAgents]Agent
}

// Len returns the number of crawlers that the User-Agent names: 0 for a person.
func (id *Identity) Len() int { return id.n }

// At returns the crawler i, 0 ≤ i < Len.
func (id *Identity) At(i int) *Agent { return &id.agents[:id.n][i] }

// Agents returns the crawlers that the User-Agent names, in the order of their place in it. The slice is part of id.
func (id *Identity) Agents() []Agent { return id.agents[:id.n] }

// Class returns Person when the User-Agent names no crawler, else the class of the crawler that robots.txt binds most: the first
// of Registered, Named, SelfDeclared, UserTriggered, Offline, Webhook, Program and Library that is there.
func (id *Identity) Class() Class {
	class := Person
	for i := range id.n {
		if c := id.agents[i].Class; class == Person || c < class {
			class = c
		}
	}
	return class
}

// keep leaves out the agents that fail the test.
func (id *Identity) keep(test func(i int) bool) {
	n := 0
	for i := range id.n {
		if test(i) {
			id.agents[n] = id.agents[i]
			n++
		}
	}
	id.n = n
}

// add appends an agent unless id has that crawler, or that token, already. It returns the agent's place, MaxAgents if id is full.
func (id *Identity) add(a Agent) int {
	for i := range id.n {
		b := &id.agents[i]
		if b.Crawler == a.Crawler && (a.Crawler != nil || strings.EqualFold(a.Token, b.Token)) {
			return i
		}
	}
	if id.n == MaxAgents {
		return MaxAgents
	}
	id.agents[id.n] = a
	id.n++
	return id.n - 1
}
