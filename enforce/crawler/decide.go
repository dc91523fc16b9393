package crawler

import "strings"

// decide turns the evidence into agents. Tokens, which are in id already, count before shapes.
func (e *evidence) decide(ua string, id *Identity) {
	if e.shared != 0 && e.person() {
		id.dropShared(e.shared)
	}
	hard := false
	for _, a := range id.Agents() {
		hard = hard || a.Class != Library
	}
	switch {
	case hard:
		id.drop(Library)
		return
	case e.strong.ok():
		e.declare(ua, e.strong, id)
	case e.compat.ok():
		e.declare(ua, e.compat, id)
	case e.contact.ok() && (e.plus || !e.person()):
		e.declare(ua, e.contact, id)
	case e.weak.ok() && !e.person():
		e.declare(ua, e.weak, id)
	}
	if id.n > 0 {
		return
	}
	if strings.TrimLeft(ua, " \t") == "" {
		id.add(Agent{Class: Library})
	}
	if e.library.ok() && !e.person() {
		id.add(Agent{Class: Library, Token: ua[e.library.start:e.library.end], Start: e.library.start, End: e.library.end})
	}
}

// person tells whether the words are those of a browser, an app or a device.
func (e *evidence) person() bool {
	return e.roles&(roleEngine|roleBrowser|rolePlatform|roleApp|roleBrand|roleAndroid) != 0 || e.appID
}

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

// drop leaves out the agents of a class.
func (id *Identity) drop(class Class) {
	n := 0
	for i := range id.n {
		if id.agents[i].Class != class {
			id.agents[n] = id.agents[i]
			n++
		}
	}
	id.n = n
}
