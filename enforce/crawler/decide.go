package crawler

import (
	"cmp"
	"strings"
)

// Reason says why a User-Agent, or a part of it, names a crawler.
type Reason uint8

// The reasons, from the surest to the weakest.
const (
	NoReason       Reason = iota
	RegistryToken         // a User-Agent token of the registry
	SiteToken             // a token that the site's robots.txt names
	ControlToken          // a robots.txt token that no crawler is known to send
	CrawlerWord           // a word for a crawler: bot, …spider, Crawler…
	CompatibleName        // the name that follows `compatible;`, as no browser has it
	CommentName           // a name in the comment that browsers fill with `KHTML, like Gecko` alone
	Contact               // a URL or an e-mail address, spelt out or not
	RobotsWork            // a word for what robots do: …Checker, …Monitor
	NameBefore            // a name before the `Mozilla/5.0` that browsers begin with
	BareMozilla           // `Mozilla/5.0` without a browser, an engine or a system, but with another name
	HostName              // a host name for a product
	LibraryWord           // a word for an HTTP client
	ProgramName           // a program's name, and nothing else
	SecondOpinion         // nothing by our words, a robot by those of another library
	NoUserAgent           // empty
)

var reasonTexts = [...]string{
	NoReason:       "",
	RegistryToken:  "a User-Agent token of the registry",
	SiteToken:      "a token of the site's robots.txt",
	ControlToken:   "a robots.txt token that no crawler is known to send",
	CrawlerWord:    "a word for a crawler",
	CompatibleName: "a name after \"compatible\" that is no browser's",
	CommentName:    "a name in the comment on KHTML, where browsers have none",
	Contact:        "a contact",
	RobotsWork:     "a word for a robot's work",
	NameBefore:     "a name before \"Mozilla\", with which browsers begin",
	BareMozilla:    "a name behind \"Mozilla/5.0\" without a browser, an engine or a system",
	HostName:       "a host name for a product",
	LibraryWord:    "a word for an HTTP client",
	ProgramName:    "a program's name and nothing else",
	SecondOpinion:  "an unknown program, a robot to another library as well",
	NoUserAgent:    "no User-Agent",
}

// String says the reason in words.
func (r Reason) String() string {
	if int(r) < len(reasonTexts) {
		return reasonTexts[r]
	}
	return ""
}

// What speaks for a person. A platform does against a shape; an HTTP library may send one too.
const (
	roleClient = roleEngine | roleBrowser | roleApp | roleBrand | roleAndroid
	rolePerson = roleClient | rolePlatform
)

// maxProgramWords bounds the words of a User-Agent that is a program's name and nothing else.
const maxProgramWords = 8

// decide turns the evidence into agents. Tokens, which are in id already, count before shapes; shapes count from the surest to the
// weakest, and the weak ones only where nothing speaks for a person.
func (e *evidence) decide(ua string, id *Identity) {
	if id.n > 0 && e.weighTokens(id) {
		return
	}
	person := e.person()
	mozilla := e.has(roleMozilla)
	switch {
	case e.strong.ok():
		e.declare(ua, e.strong, cmp.Or(e.control, CrawlerWord), id)
	case e.compat.ok() && !e.has(roleIE|roleBrand|roleApp):
		e.declare(ua, e.compat, CompatibleName, id)
	case e.afterKHTML.ok():
		e.declare(ua, e.afterKHTML, CommentName, id)
	case e.contact.ok() && (e.plus || id.n == 0) && (e.plus && !e.has(roleApp) || e.contact.start == 0 || e.declaresContact(person, mozilla)):
		e.declare(ua, e.contact, Contact, id)
	case e.work.ok() && e.declaresWork(person, mozilla):
		e.declare(ua, e.work, RobotsWork, id)
	case mozilla && e.name.ok() && e.name.start == 0 && e.has(rolePlatform) && !e.has(roleMobile|roleBrand|roleApp|roleMedia|roleIE):
		e.declare(ua, e.name, NameBefore, id)
	case e.has(roleCompatible) && !e.has(roleMozilla|roleClient) && e.name.ok() && e.name.start == 0:
		e.declare(ua, e.name, CompatibleName, id)
	case person:
	case mozilla && id.n == 0 && !e.has(roleUnix) && (e.any.ok() || e.domain.ok()) && strings.HasPrefix(ua, "Mozilla/5"):
		e.declare(ua, cmp.Or(e.any, e.domain), BareMozilla, id)
	case e.hint.ok():
		e.declare(ua, e.hint, RobotsWork, id)
	case e.signed.ok():
		e.declare(ua, e.signed, Contact, id)
	case e.domain.ok() && !mozilla && !e.has(roleMedia):
		e.declare(ua, e.domain, HostName, id)
	case id.n > 0:
	case e.library.ok():
		id.add(client(ua, e.library, LibraryWord))
	case !mozilla && e.name.ok() && e.words <= maxProgramWords && e.comments <= 1 && !e.has(roleMedia):
		id.add(client(ua, e.name, ProgramName))
	case e.any.ok():
		id.unknown = true
	}
}

// weighTokens leaves out the agents that rest on tokens which people's clients send too, where something speaks for a person. It
// tells whether what is left makes shapes needless.
func (e *evidence) weighTokens(id *Identity) (enough bool) {
	if e.shared != 0 && e.person() {
		id.keep(func(i int) bool { return e.shared&(1<<i) == 0 })
	}
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

// declaresContact tells whether a URL without a `+` is a crawler's. Apps give the address of their home page, and programs that add
// to Internet Explorer's User-Agent theirs.
func (e *evidence) declaresContact(person, mozilla bool) bool {
	switch {
	case mozilla:
		return !e.has(roleIE | roleMobile)
	case !person:
		return !e.has(roleMedia)
	}
	return e.name.ok() && e.name.start == 0 && !e.has(rolePlatform|roleApp|roleBrand|roleAndroid)
}

// declaresWork tells whether a word for a robot's work is a robot's. On mobile devices it can be the name of the app around the browser.
func (e *evidence) declaresWork(person, mozilla bool) bool {
	return !person || mozilla && !e.has(roleMobile) || !e.has(rolePerson&^roleApp|roleMedia)
}

func (e *evidence) has(r role) bool { return e.roles&r != 0 }

// person tells whether there are words of a browser, an app or a device.
func (e *evidence) person() bool { return e.roles&rolePerson != 0 || e.appID }

// programName tells a program's name from a device's (LGU8120) and from a word that says too little.
func programName(name string) bool {
	n := 0
	for i := range len(name) {
		switch c := name[i]; {
		case letter(c):
			n++
		case '0' <= c && c <= '9':
			return n >= 6
		}
	}
	return n >= 4
}

func client(ua string, why span, reason Reason) Agent {
	return Agent{Class: Library, Token: ua[why.start:why.end], Start: why.start, End: why.end, Reason: reason}
}

// declare adds a crawler that says of itself, by the octets of why, that it is one.
func (e *evidence) declare(ua string, why span, reason Reason, id *Identity) {
	p := e.product(ua, why, reason)
	id.add(Agent{Class: SelfDeclared, Token: ua[p.start:p.end], Start: why.start, End: why.end, Reason: reason})
}
