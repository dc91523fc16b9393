package crawler

import (
	"cmp"
	"strings"
)

// What speaks for a person. A platform does against a shape; an HTTP library may send one too.
const (
	roleClient = roleEngine | roleBrowser | roleAnyBrowser | roleApp | roleBrand | roleAndroid
	rolePerson = roleClient | rolePlatform
)

// maxProgramWords bounds the words of a User-Agent that is a program's name and nothing else.
const maxProgramWords = 8

// decide turns the evidence into agents. Tokens, which are in id already, count before shapes; shapes count from the surest to the
// weakest, and the weak ones only where nothing speaks for a person.
func (e *evidence) decide(ua string, id *Identity) {
	if e.has(roleForm) && !e.has(roleMozilla) && platformForm(ua) {
		id.keep(func(i int) bool { return id.agents[i].knownCrawler() && e.shared&(1<<i) == 0 })
		return
	}
	if id.n > 0 && e.weighTokens(ua, id) {
		return
	}
	person := e.person()
	mozilla := e.has(roleMozilla)
	switch {
	case e.declares(ua, person, mozilla, id):
	case e.amongBrowsers(ua, mozilla, id):
	case person:
	case e.apart(ua, mozilla, id) || id.n > 0:
	default:
		e.plain(ua, mozilla, id)
	}
}

// declares adds the robot that a client says it is.
func (e *evidence) declares(ua string, person, mozilla bool, id *Identity) bool {
	switch {
	case e.strong.ok():
		e.declare(ua, e.strong, cmp.Or(e.control, CrawlerWord), id)
	case e.compat.ok() && e.robotAfterCompatible(ua):
		e.declare(ua, e.compat, CompatibleName, id)
	case e.afterKHTML.ok():
		e.declare(ua, e.afterKHTML, CommentName, id)
	case e.contact.ok() && (e.plus || id.n == 0) && e.declaresContact(ua, person, mozilla):
		e.declare(ua, e.contact, Contact, id)
	case e.has(roleHook) && e.work.ok() && id.n == 0 && !mozilla && !person:
		e.declare(ua, e.work, RobotsWork, id)
		id.agents[0].Class = Webhook
	case e.work.ok() && e.declaresWork(person, mozilla):
		e.declare(ua, e.work, RobotsWork, id)
	default:
		return false
	}
	return true
}

// amongBrowsers adds the robot whose User-Agent has what browsers send, and a name where they have none.
func (e *evidence) amongBrowsers(ua string, mozilla bool, id *Identity) bool {
	switch {
	case e.name.ok() && e.name.start == 0 && e.beforeBrowser(ua, mozilla):
		id.add(client(ua, e.name, Program, NameBefore))
	case mozilla && e.lastDomain.ok() && e.has(roleEngine|roleBrowser|roleAnyBrowser) && (e.beforeEngine || e.desktop() && e.outside(ua, e.domain, e.lastDomain)):
		e.declare(ua, e.lastDomain, HostName, id)
	case mozilla && e.behind.ok() && e.desktop() && (e.has(roleIE) && e.behindComment(ua) || e.has(roleChrome) && e.has(roleSafari) && e.endsIn(ua, e.behind)):
		id.add(client(ua, e.behind, Program, NameBehind))
	case mozilla && e.after.ok() && e.desktop() && e.beforeSafari(ua, e.after):
		id.add(client(ua, e.after, Program, NameBehind))
	case mozilla && e.template:
		id.add(client(ua, e.first, Program, TemplateVersion))
	case e.has(roleCompatible) && !mozilla && !e.has(roleClient) && e.name.ok() && e.name.start == 0:
		e.declare(ua, e.name, CompatibleName, id)
	case mozilla && id.n == 0 && e.after.ok() && e.onlySystem():
		id.add(client(ua, e.after, Program, NameBehind))
	case mozilla && id.n == 0 && e.any.ok() && e.onlySystem() && strings.HasPrefix(ua, "Mozilla/5"):
		id.add(client(ua, e.any, Program, BareMozilla))
	case e.words == 1 && e.has(roleMain) && e.has(roleChrome|roleSafari|roleIE):
		id.add(client(ua, e.first, Program, ProgramName)) // no browser sends its name alone, but for old ones
	case !mozilla && id.n == 0 && e.contact.ok() && e.name.ok() && e.name.start == 0 && e.onlySystem():
		id.add(client(ua, e.name, Program, ProgramName))
	case !mozilla && id.n == 0 && e.name.ok() && e.onlySystem() && systemBehind(ua):
		id.add(client(ua, e.name, Program, ProgramName))
	case !mozilla && e.hint.ok() && e.hintSure && e.roles&rolePerson == roleAnyBrowser:
		e.declare(ua, e.hint, RobotsWork, id) // SEO Browser
	default:
		return false
	}
	return true
}

// apart adds the robot whose User-Agent has something of robots, where nothing speaks for a person.
func (e *evidence) apart(ua string, mozilla bool, id *Identity) bool {
	switch {
	case mozilla && id.n == 0 && e.has(roleUnix) && e.any.ok() && strings.HasPrefix(ua, "Mozilla/5"):
		id.add(client(ua, e.any, Program, BareMozilla))
	case mozilla && id.n == 0 && (e.any.ok() || e.domain.ok()) && !e.has(roleMobile|roleLike) && strings.HasPrefix(ua, "Mozilla/5"):
		e.bareMozilla(ua, id)
	case e.hintSure:
		e.declare(ua, e.hint, RobotsWork, id)
	case e.hint.ok():
		p := e.product(ua, e.hint, RobotsWork)
		id.add(Agent{Class: Program, Token: ua[p.start:p.end], Start: e.hint.start, End: e.hint.end, Reason: ProgramName})
	case !mozilla && id.n == 0 && e.contact.ok() && !e.has(roleMedia):
		id.add(client(ua, e.first, Program, ProgramName))
	case e.signed.ok():
		e.declare(ua, e.signed, Contact, id)
	case e.domain.ok() && !mozilla && !e.has(roleMedia):
		e.declare(ua, e.domain, HostName, id)
	default:
		return false
	}
	return true
}

// bareMozilla adds what a name behind nothing but Mozilla/5.0 stands for: a robot if no comment is before it, else a program. Forgotten
// browsers have theirs in the comment.
func (e *evidence) bareMozilla(ua string, id *Identity) {
	name := cmp.Or(e.any, e.domain)
	if strings.Contains(ua[:name.start], "(") {
		id.add(client(ua, name, Program, BareMozilla))
		return
	}
	e.declare(ua, name, BareMozilla, id)
}

// plain adds a program that sends only its name, or not even its name.
func (e *evidence) plain(ua string, mozilla bool, id *Identity) {
	switch {
	case e.library.ok():
		id.add(client(ua, e.library, Library, LibraryWord))
	case fields(ua):
	case !mozilla && e.first.start == 0 && e.first.ok() && gluedVersion(ua): // Java1.8.0_151
		id.add(client(ua, e.first, Program, ProgramName))
	case !mozilla && e.name.ok() && e.words <= maxProgramWords && e.comments <= 1 && !e.has(roleMedia):
		id.add(client(ua, e.name, Program, ProgramName))
	case mozilla && e.words == 1:
		id.add(client(ua, e.first, Program, BareMozilla))
	case !mozilla && e.any.ok() && e.any.start == 0 && e.words <= 3 && 'a' <= ua[0] && ua[0] <= 'z' && e.any.end > 2 && !e.has(roleMedia):
		id.add(client(ua, e.any, Program, ProgramName)) // ds9
	case e.words == 1 && !e.any.ok() && e.roles&^roleNoise == 0 && !strings.ContainsAny(ua, "0123456789"):
		id.add(client(ua, e.first, Program, ProgramName))
	case e.words == 1 && e.any.ok() && e.any.end-e.any.start > 2 && !e.has(roleMedia) && letters(ua[e.any.start:e.any.end]):
		id.add(client(ua, e.any, Program, ProgramName))
	case e.words == 0 && !strings.ContainsAny(ua, "0123456789"):
		id.add(Agent{Class: Library, Reason: NoUserAgent})
	}
}

// weighTokens leaves out the agents that rest on tokens which people's clients send too, where something speaks for a person, and those
// of the software behind a product's name. It tells whether what is left makes shapes needless.
func (e *evidence) weighTokens(ua string, id *Identity) (enough bool) {
	if e.shared != 0 && e.person() && !(e.contact.ok() && e.declaresContact(ua, true, e.has(roleMozilla))) {
		id.keep(func(i int) bool { return e.shared&(1<<i) == 0 })
	}
	if e.has(roleMobile | roleBrand | roleApp | roleMedia) {
		id.keep(func(i int) bool { return !platformToken(&id.agents[i]) })
	}
	e.dropSoftware(ua, id)
	for i := range id.n {
		enough = enough || id.agents[i].Class != Library
	}
	switch {
	case enough:
		id.keep(func(i int) bool { return id.agents[i].Class != Library })
	case e.has(roleClient) || e.appID:
		id.keep(func(i int) bool { return id.agents[i].Start == 0 })
	}
	return enough
}

func client(ua string, why span, class Class, reason Reason) Agent {
	return Agent{Class: class, Token: ua[why.start:why.end], Start: why.start, End: why.end, Reason: reason}
}

// declare adds a crawler that says of itself, by the octets of why, that it is one.
func (e *evidence) declare(ua string, why span, reason Reason, id *Identity) {
	p := e.product(ua, why, reason)
	id.add(Agent{Class: SelfDeclared, Token: ua[p.start:p.end], Start: why.start, End: why.end, Reason: reason})
}
