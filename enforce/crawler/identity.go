package crawler

import "strings"

// MaxAgents is the maximum number of crawlers in an [Identity]. If a User-Agent names more, the others are left out.
const MaxAgents = 8

// MaxUserAgent is the maximum number of octets of a User-Agent that are read. A longer User-Agent never counts as a person's: the longest
// of 227,618 User-Agents of browsers has 681 octets.
const MaxUserAgent = 2048

// Agent is one crawler that a User-Agent names.
type Agent struct {
	Class   Class
	Crawler *Crawler // nil unless it is in the registry

	// Token is the product token for which a robots.txt group is looked up first, before those in Crawler.Robots. It is the User-Agent
	// token as the registry has it, the token as the site's robots.txt has it, or a product token as the User-Agent has it. It is
	// empty only if Reason is NoUserAgent.
	Token string

	Start, End int    // the octets of the User-Agent that are the evidence
	Reason     Reason // what kind of evidence they are; see also Reason.Strength
}

// Name returns the crawler's name in the registry or, if the registry does not have it,
// the token that the client sent.
func (a *Agent) Name() string {
	if a.Crawler != nil {
		return a.Crawler.Name
	}
	return a.Token
}

// SentClass returns the class that the User-Agent gives the agent. Class differs
// from it for a probe that requests too many paths, which package enforce treats
// as a self-declared crawler.
func (a *Agent) SentClass() Class {
	switch {
	case a.Crawler != nil:
		return a.Crawler.Class
	case a.Reason == namedProbe:
		return Probe
	}
	return a.Class
}

// RunByAnyone reports whether the User-Agent belongs to software that anyone can
// run, so that two clients that send it may be unrelated: a crawler that the
// registry marks so, a probe, an offline browser, an HTTP library, or a program
// that sends only its name. A self-declared crawler is assumed to have one
// operator.
func (a *Agent) RunByAnyone() bool {
	if a.SentClass() == Probe {
		return true // several servers of one operator check a site at the same time
	}
	if a.Crawler != nil && a.Crawler.RunBy != "" {
		return a.Crawler.RunBy == ByAnyone
	}
	return a.Class == Library || a.Class == Program || a.Class == Scraper
}

// Identity is the sender of a User-Agent: a person, or one or several crawlers.
// The zero value is a person. An Identity can be copied; its methods are not
// safe for concurrent use with a call that stores a new result in it.
type Identity struct {
	n      int
	agents [MaxAgents]Agent
}

// Len returns the number of crawlers that the User-Agent names: 0 for a person, at most [MaxAgents].
func (id *Identity) Len() int { return id.n }

// At returns crawler i, 0 ≤ i < Len, which is part of id.
func (id *Identity) At(i int) *Agent { return &id.agents[:id.n][i] }

// Agents returns the crawlers that the User-Agent names, in the order in which it names them. The slice is part of id.
func (id *Identity) Agents() []Agent { return id.agents[:id.n] }

// Class returns Person if the User-Agent names no crawler. If the crawlers have different classes, it returns the first of Registered,
// Named, SelfDeclared, UserTriggered, Scraper, Webhook, Probe, Program and Library that is among them.
func (id *Identity) Class() Class {
	class := Person
	for i := range id.n {
		if c := id.agents[i].Class; class == Person || c < class {
			class = c
		}
	}
	return class
}

// Add adds the crawlers of another identity that id does not have, up to [MaxAgents].
func (id *Identity) Add(other *Identity) {
	for _, a := range other.Agents() {
		id.add(a)
	}
}

// keep removes the agents for which test returns false.
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

// add appends an agent unless id has the same crawler, or the same token, already. It returns the agent's index, or MaxAgents if id is
// full.
func (id *Identity) add(a Agent) int {
	for i := range id.n {
		if b := &id.agents[i]; b.Crawler == a.Crawler && (a.Crawler != nil || strings.EqualFold(a.Token, b.Token)) {
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
