package crawler

import (
	"cmp"
	"strings"
)

// decide turns the evidence into agents. Tokens, which are in id already, count before shapes.
func (e *evidence) decide(ua string, id *Identity) {
	if e.shared != 0 && e.person() {
		id.dropShared(e.shared)
	}
	hard := false
	for _, a := range id.Agents() {
		hard = hard || a.Class != Library
	}
	person := e.person()
	if hard || e.personal(roleClient) {
		id.dropLibraries(hard)
	}
	if hard {
		return
	}
	browser := e.roles&roleMozilla != 0
	switch {
	case e.strong.ok():
		e.declare(ua, e.strong, id)
	case e.compat.ok() && e.roles&(roleIE|roleBrand|roleApp|roleAndroid) == 0:
		e.declare(ua, e.compat, id)
	case e.afterKHTML.ok():
		e.declare(ua, e.afterKHTML, id)
	case e.contact.ok() && (e.plus || !person && e.roles&roleMedia == 0 || e.contact.start == 0 || e.name.ok() && e.name.start == 0 && e.roles&(rolePlatform|roleApp|roleBrand|roleAndroid) == 0 || browser && e.roles&roleIE == 0):
		e.declare(ua, e.contact, id)
	case e.work.ok() && (!person || browser || e.roles&(rolePerson&^roleApp|roleMedia) == 0):
		e.declare(ua, e.work, id)
	case !person && id.n == 0 && e.roles&roleUnix == 0 && (e.any.ok() || e.domain.ok()) && strings.HasPrefix(ua, "Mozilla/5"):
		e.declare(ua, cmp.Or(e.any, e.domain), id)
	case e.name.ok() && e.name.start == 0 && e.roles&roleCompatible != 0 && e.roles&(roleMozilla|roleClient) == 0:
		e.declare(ua, e.name, id)
	case person:
	case e.hint.ok():
		e.declare(ua, e.hint, id)
	case e.declared.ok():
		e.declare(ua, e.declared, id)
	case e.domain.ok() && !browser && e.roles&roleMedia == 0:
		e.declare(ua, e.domain, id)
	case id.n > 0:
	case strings.TrimLeft(ua, " \t") == "":
		id.add(Agent{Class: Library})
	case e.library.ok():
		e.client(ua, e.library, id)
	case e.plain():
		e.client(ua, e.name, id)
	}
}

func (e *evidence) client(ua string, why span, id *Identity) {
	id.add(Agent{Class: Library, Token: ua[why.start:why.end], Start: why.start, End: why.end})
}

// plain tells whether the User-Agent is a name, with or without a version, and nothing else: what programs send.
func (e *evidence) plain() bool {
	return e.words <= 6 && e.comments == 0 && e.name.ok() && e.roles&roleMedia == 0
}

// programName tells a program's name from a device's (LGU8120) and from a word that says too little.
func programName(name string) bool {
	n := 0
	for i := range len(name) {
		switch c := name[i]; {
		case letter(c):
			n++
		case '0' <= c && c <= '9':
			return n >= 6 // Netlab360, but no SGH-I200
		}
	}
	return n >= 4
}

// What speaks for a person: for a shape, a platform is enough; an HTTP library sends that too.
const (
	roleClient = roleEngine | roleBrowser | roleApp | roleBrand | roleAndroid
	rolePerson = roleClient | rolePlatform
)

// person tells whether the words are those of a browser, an app or a device.
func (e *evidence) person() bool { return e.personal(rolePerson) }

func (e *evidence) personal(r role) bool { return e.roles&r != 0 || e.appID }

// declare adds a crawler that says of itself, by the octets of why, that it is one.
func (e *evidence) declare(ua string, why span, id *Identity) {
	id.add(Agent{Class: SelfDeclared, Token: e.product(ua, why), Start: why.start, End: why.end})
}

// product returns the product token of a crawler that is in no table.
func (e *evidence) product(ua string, why span) string {
	return ua[why.start:why.end]
}

// dropShared leaves out the agents whose bits are set.
func (id *Identity) dropShared(bits uint16) {
	n := 0
	for i := range id.n {
		if bits&(1<<i) == 0 {
			id.agents[n] = id.agents[i]
			n++
		}
	}
	id.n = n
}

// dropLibraries leaves out HTTP libraries: all, or those that are not the first word of the User-Agent.
func (id *Identity) dropLibraries(all bool) {
	n := 0
	for i := range id.n {
		if id.agents[i].Class != Library || !all && id.agents[i].Start == 0 {
			id.agents[n] = id.agents[i]
			n++
		}
	}
	id.n = n
}
