package crawler

import (
	"cmp"
	"slices"
	"strings"
)

// Identify stores in id who sent the User-Agent ua. It reads the first [MaxUserAgent] octets once and allocates nothing. The tokens in id
// share memory with the registry, with the site's tokens or with ua.
func (m *Matcher) Identify(ua string, id *Identity) {
	id.n = 0
	read := cut(ua)
	var e evidence
	m.scan(read, &e, id)
	e.decide(read, id)
	if len(ua) > MaxUserAgent {
		e.addOverlong(read, id)
	}
}

// Roles that indicate a person. roleClient leaves out rolePlatform, because HTTP libraries may send the platform too.
const (
	roleClient = roleEngine | roleBrowser | roleAnyBrowser | roleApp | roleBrand | roleAndroid
	rolePerson = roleClient | rolePlatform
)

// maxProgramWords bounds the words of a User-Agent that is only a program's name.
const maxProgramWords = 8

// decide turns the evidence into agents. Tokens, which are in id already, count first, then the form of the User-Agent, from the strongest
// evidence to the weakest. Weak evidence counts only if nothing indicates a person.
func (e *evidence) decide(ua string, id *Identity) {
	if e.has(roleForm) && !e.has(roleMozilla) && platformForm(ua) {
		id.keep(func(i int) bool { return id.agents[i].knownCrawler() && e.shared&(1<<i) == 0 })
		return
	}
	person := e.person()
	if e.inName != 0 && person && !e.bindsNames(ua, id) {
		return
	}
	probe := e.probeName(ua, person)
	if id.n > 0 {
		e.filterTokens(ua, id)
	}
	if id.Class() < Webhook && id.n > 0 {
		if a := &id.agents[0]; a.Class == Named && a.Start == 0 && a.End == probe.end {
			a.Class = Probe
		}
		return
	}
	if id.n > 0 || e.app {
		e.addFurther(ua, id)
		return
	}
	mozilla := e.has(roleMozilla)
	switch {
	case probe.ok():
		id.add(newAgent(ua, probe, Probe, namedProbe))
	case e.addDeclared(ua, person, mozilla, id):
	case e.addNextToBrowser(ua, mozilla, id):
	case person:
	case e.addWithoutPerson(ua, mozilla, id):
	default:
		e.addProgram(ua, mozilla, id)
	}
}

// bindsNames reports whether the names that only the site knows count. In the User-Agent of a browser or an app they don't, whatever its name:
// a group for Wolvic would apply to people. The exception is a product behind those of a browser of a computer. If all others are a
// person's, id is empty then.
func (e *evidence) bindsNames(ua string, id *Identity) bool {
	names, all := e.inName, *id
	e.inName = 0
	behind := e.has(roleMozilla) && e.desktop() && e.browserPos > 0
	id.keep(func(i int) bool { return names&(1<<i) == 0 || behind && id.agents[i].Start > e.browserPos })
	if id.n == all.n {
		return true
	}
	if e.decide(ua, id); id.n == 0 {
		return false
	}
	*id = all
	return true
}

// probeName returns the first product of a User-Agent if that is the name of a
// probe: Acme-HealthCheck/1.0. No word for a crawler may be in the User-Agent,
// and nothing that indicates a person.
func (e *evidence) probeName(ua string, person bool) span {
	end := strings.IndexAny(ua, " /;(")
	if end < 0 {
		end = len(ua)
	}
	if person || e.has(roleCrawlerWord|roleCrawlerPart) || !isProbeName(ua[:end]) {
		return span{}
	}
	return span{0, end}
}

// addDeclared adds the crawler that the client declares itself to be. It reports whether there is one.
func (e *evidence) addDeclared(ua string, person, mozilla bool, id *Identity) bool {
	switch {
	case e.crawlerWord.ok():
		e.addSelfDeclared(ua, e.crawlerWord, cmp.Or(e.crawlerReason, CrawlerWord), id)
	case e.afterCompatible.ok() && e.isCrawlerAfterCompatible(ua):
		e.addSelfDeclared(ua, e.afterCompatible, CompatibleName, id)
	case e.afterKHTML.ok():
		e.addSelfDeclared(ua, e.afterKHTML, CommentName, id)
	case e.contact.ok() && e.isCrawlersContact(ua, person, mozilla):
		e.addSelfDeclared(ua, e.contact, Contact, id)
	case e.has(roleHook) && e.task.ok() && !mozilla && !person:
		e.addSelfDeclared(ua, e.task, taskWord, id)
		id.agents[0].Class = Webhook
	case e.task.ok() && e.isCrawlersTask(person, mozilla):
		e.addSelfDeclared(ua, e.task, taskWord, id)
	default:
		return false
	}
	return true
}

// addNextToBrowser adds the crawler or program that sends words of a browser, and its own name in a place where browsers have none. It
// reports whether there is one.
func (e *evidence) addNextToBrowser(ua string, mozilla bool, id *Identity) bool {
	switch {
	case e.name.ok() && e.name.start == 0 && e.beforeBrowser(ua, mozilla):
		id.add(newAgent(ua, e.name, Program, nameBefore))
	case mozilla && e.lastHostName.ok() && e.has(roleEngine|roleBrowser|roleAnyBrowser) &&
		(e.hostBeforeEngine || e.desktop() && e.hostAtEdge(ua, e.hostName, e.lastHostName)):
		e.addSelfDeclared(ua, e.lastHostName, HostName, id)
	case mozilla && e.afterComment.ok() && e.desktop() && e.beforeSafari(ua, e.afterComment):
		id.add(newAgent(ua, e.afterComment, Program, nameAfter))
	case mozilla && e.template:
		id.add(newAgent(ua, e.first, Program, placeholderVersion))
	case e.has(roleCompatible) && !mozilla && !e.has(roleClient) && e.name.ok() && e.name.start == 0:
		e.addSelfDeclared(ua, e.name, CompatibleName, id)
	case mozilla && e.afterComment.ok() && e.onlySystem():
		id.add(newAgent(ua, e.afterComment, Program, nameAfter))
	case mozilla && e.unknown.ok() && e.onlySystem() && strings.HasPrefix(ua, "Mozilla/5"):
		id.add(newAgent(ua, e.unknown, Program, BareMozilla))
	case e.words == 1 && e.has(roleMain) && e.has(roleChrome|roleSafari|roleIE):
		id.add(newAgent(ua, e.first, Program, ProgramName)) // these browsers never send only their name
	case !mozilla && e.name.ok() && e.onlySystem() && endsWithSystem(ua):
		id.add(newAgent(ua, e.name, Program, ProgramName))
	case !mozilla && e.weakTask.ok() && e.likelyTask && e.roles&rolePerson == roleAnyBrowser:
		e.addSelfDeclared(ua, e.weakTask, taskWord, id) // SEO Browser
	default:
		return false
	}
	return true
}

// addWithoutPerson adds the crawler or program for which there is weak evidence, and reports whether there is one. Nothing in the
// User-Agent indicates a person.
func (e *evidence) addWithoutPerson(ua string, mozilla bool, id *Identity) bool {
	switch {
	case mozilla && e.has(roleUnix) && e.unknown.ok() && strings.HasPrefix(ua, "Mozilla/5"):
		id.add(newAgent(ua, e.unknown, Program, BareMozilla))
	case mozilla && (e.unknown.ok() || e.hostName.ok()) && !e.has(roleMobile|roleLike) && strings.HasPrefix(ua, "Mozilla/5"):
		e.addBareMozilla(ua, id)
	case e.likelyTask:
		e.addSelfDeclared(ua, e.weakTask, taskWord, id)
	case e.weakTask.ok():
		p := e.product(ua, e.weakTask, taskWord)
		id.add(Agent{Class: Program, Token: ua[p.start:p.end], Start: e.weakTask.start, End: e.weakTask.end, Reason: ProgramName})
	case !mozilla && e.contact.ok() && !e.has(roleMedia):
		id.add(newAgent(ua, e.first, Program, ProgramName))
	case e.plusComment.ok() && !e.has(roleMedia):
		e.addSelfDeclared(ua, e.plusComment, Contact, id)
	case e.hostName.ok() && !mozilla && !e.has(roleMedia):
		e.addSelfDeclared(ua, e.hostName, HostName, id)
	default:
		return false
	}
	return true
}

// addBareMozilla adds an agent for a name that follows a bare Mozilla/5.0: a self-declared crawler if no parenthesis opens before the name,
// else a program, because some old browsers have their name in the comment.
func (e *evidence) addBareMozilla(ua string, id *Identity) {
	name := cmp.Or(e.unknown, e.hostName)
	if strings.Contains(ua[:name.start], "(") {
		id.add(newAgent(ua, name, Program, BareMozilla))
		return
	}
	e.addSelfDeclared(ua, name, BareMozilla, id)
}

// addProgram adds an HTTP library, or a program that sends only its name. A User-Agent without words counts as a library's.
func (e *evidence) addProgram(ua string, mozilla bool, id *Identity) {
	switch {
	case e.library.ok():
		id.add(newAgent(ua, e.library, Library, LibraryWord))
	case isFieldList(ua):
	case !mozilla && e.first.start == 0 && e.first.ok() && attachedVersion(ua): // Java1.8.0_151
		id.add(newAgent(ua, e.first, Program, ProgramName))
	case !mozilla && (!e.name.ok() || e.name.start > 0) && !e.has(roleMedia) && bareProduct(ua) > 0:
		id.add(newAgent(ua, span{0, bareProduct(ua)}, Program, ProgramName))
	case !mozilla && e.name.ok() && e.words <= maxProgramWords && e.comments <= 1 && !e.has(roleMedia):
		id.add(newAgent(ua, e.name, Program, ProgramName))
	case mozilla && e.words == 1:
		id.add(newAgent(ua, e.first, Program, BareMozilla))
	case !mozilla && e.unknown.ok() && e.unknown.start == 0 && e.words <= 3 && 'a' <= ua[0] && ua[0] <= 'z' && e.unknown.end > 2 &&
		!e.has(roleMedia):
		id.add(newAgent(ua, e.unknown, Program, ProgramName)) // ds9
	case e.words == 1 && !e.unknown.ok() && e.roles&^roleNoise == 0 && !strings.ContainsAny(ua, "0123456789"):
		id.add(newAgent(ua, e.first, Program, ProgramName))
	case e.words == 1 && e.unknown.ok() && e.unknown.end-e.unknown.start > 2 && !e.has(roleMedia) &&
		letters(ua[e.unknown.start:e.unknown.end]):
		id.add(newAgent(ua, e.unknown, Program, ProgramName))
	case e.words == 0 && !strings.ContainsAny(ua, "0123456789"):
		id.add(Agent{Class: Library, Reason: NoUserAgent})
	}
}

// filterTokens removes agents from id. If something indicates a person, it removes those with tokens that people's clients send too. It
// removes libraries and frameworks that another agent is made with.
func (e *evidence) filterTokens(ua string, id *Identity) {
	if e.shared != 0 && e.person() && !e.ownDeclares && !(e.contact.ok() && e.isCrawlersContact(ua, true, e.has(roleMozilla))) {
		id.keep(func(i int) bool { return e.shared&(1<<i) == 0 })
	}
	if e.has(roleMobile | roleBrand | roleApp | roleMedia) {
		id.keep(func(i int) bool { return !platformToken(&id.agents[i]) })
	}
	if e.has(roleMobile) && strings.Contains(ua, " Electron/") {
		id.keep(func(i int) bool { return crawlsAlone(&id.agents[i]) }) // a window that a person looks at
	}
	dropDrivenBrowsers(id)
	e.dropSoftware(ua, id)
	switch {
	case slices.ContainsFunc(id.Agents(), func(a Agent) bool { return a.Class != Library }):
		id.keep(func(i int) bool { return id.agents[i].Class != Library })
	case e.has(roleClient) || e.appID:
		id.keep(func(i int) bool { return id.agents[i].Start == 0 || e.ownDeclares })
	}
}

// addFurther adds the crawler that a client declares itself to be next to a row of the registry that is no crawler's: by a word for a
// crawler, a name after `compatible;` or a contact that do not belong to that row's own product (see ownProduct). Other words, and the form of the
// User-Agent, count for nothing next to such a row.
func (e *evidence) addFurther(ua string, id *Identity) {
	why, reason := span{}, Contact
	switch {
	case e.crawlerWord.ok():
		why, reason = e.crawlerWord, cmp.Or(e.crawlerReason, CrawlerWord)
	case e.afterCompatible.ok() && e.isCrawlerAfterCompatible(ua):
		why, reason = e.afterCompatible, CompatibleName
	case e.contact.ok() && (e.contactPlus || e.contactInComment || isMail(ua, e.contact)) && (e.has(roleMozilla) || !e.ofApp(ua)):
		why = e.contact
	default:
		return
	}
	id.keep(func(i int) bool { return id.agents[i].Class == Library })
	e.addSelfDeclared(ua, why, reason, id)
}

// newAgent returns an agent. The octets of why are the evidence and the product token.
func newAgent(ua string, why span, class Class, reason Reason) Agent {
	return Agent{Class: class, Token: ua[why.start:why.end], Start: why.start, End: why.end, Reason: reason}
}

// addSelfDeclared adds a self-declared crawler. The octets of why are the evidence.
func (e *evidence) addSelfDeclared(ua string, why span, reason Reason, id *Identity) {
	p := e.product(ua, why, reason)
	id.add(Agent{Class: SelfDeclared, Token: ua[p.start:p.end], Start: why.start, End: why.end, Reason: reason})
}
