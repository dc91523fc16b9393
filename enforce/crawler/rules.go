package crawler

import "strings"

// rule says what a User-Agent without tokens is. The first rule that fits decides.
type rule struct {
	at     place // the evidence that must be there, and names the client
	form   form  // what else must hold
	class  Class // of the client
	reason Reason
	near   near
	fits   string // an example
	not    string // a User-Agent that the rule does not fit
}

// near says next to what a rule counts.
type near uint8

const (
	alone   near = iota // nothing indicates a person, and no row of the registry matches
	browser             // something may indicate a person
	row                 // the same, and a row of the registry that is no crawler's may match, in another product
)

// rules has the strongest evidence first.
var rules = [...]rule{
	{probeAt, always, Probe, namedProbe, browser, "acme-probe/1.0", "acme-probe/1.0 AcmeSpider"},
	{controlAt, always, SelfDeclared, ControlToken, row, "Google-Extended", "Acme (like Google-Extended)"},
	{crawlerAt, always, SelfDeclared, CrawlerWord, row, "AcmeBot/1.0", "Talbot/1.0"},
	{compatibleAt, crawlersName, SelfDeclared, CompatibleName, row,
		"Mozilla/5.0 (compatible; Acme/1.0)", "Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; Acme)"},
	{khtmlAt, always, SelfDeclared, CommentName, browser,
		"Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko; Acme) Safari/537.36",
		"Mozilla/5.0 (X11; Acme) AppleWebKit/537.36 (KHTML, like Gecko)"},
	{contactAt, crawlersContact, SelfDeclared, Contact, row,
		"Acme/1.0 (+https://acme.example)", "Acme/1.0 (iOS; +https://acme.example)"},
	{taskAt, hook, Webhook, taskWord, browser, "Acme-Webhooks/1.0", "Acme-Monitor/1.0"},
	{taskAt, crawlersTask, SelfDeclared, taskWord, browser, "AcmeChecker/1.0", "AcmeChecker/1.0 (iPhone; iOS 17.0)"},

	// a crawler or a program with words of a browser, and its own name where browsers have none
	{nameAt, beforeBrowser, Program, nameBefore, browser,
		"Acmeware Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0 Safari/537.36",
		"Acmeware Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"},
	{lastHostAt, besideBrowser, SelfDeclared, HostName, browser,
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0 Safari/537.36 acme.com",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) acme.com"},
	{behindAt, besideSystem, Program, nameAfter, browser,
		"Mozilla/5.0 (Windows NT 10.0) Acmeware/1.0", "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) Acmeware/1.0"},
	{firstAt, template, Program, placeholderVersion, browser,
		"Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/W.X.Y.Z Safari/537.36",
		"Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/XXX.X Safari/537.36"}, // overwritten by a privacy tool
	{nameAt, compatible, SelfDeclared, CompatibleName, browser,
		"Acmeware/1.0 (compatible; Windows NT 10.0)", "Acmeware/1.0 (compatible; Konqueror/4.1)"},
	{unknownAt, mozillaOnSystem, Program, BareMozilla, browser,
		"Mozilla/5.0 (Windows NT 10.0; Acmeware)", "Mozilla/4.0 (Windows NT 5.1; Acmeware)"},
	{firstAt, browserAlone, Program, ProgramName, browser, "Chrome/124.0", "Firefox/125.0"}, // Chrome never sends only its name
	{nameAt, systemLast, Program, ProgramName, browser,
		"Acmeware 2013 (15.0.4797) Windows NT 10.0", "Acmeware 2013 (Windows NT 10.0)"}, // .NET
	{weakTaskAt, browserForTask, SelfDeclared, taskWord, browser, "SEO Browser", "SEO Browser/1.0 (Windows NT 10.0)"},

	// weak evidence
	{unknownAt, bareMozilla, SelfDeclared, BareMozilla, alone, "Mozilla/5.0 Acmeware", "Mozilla/5.0 (Acmeware)"},
	{unknownAt, mozilla5, Program, BareMozilla, alone, "Mozilla/5.0 (Acmeware)", "Mozilla/4.0 (Acmeware)"},
	{hostAt, bareMozilla, SelfDeclared, BareMozilla, alone, "Mozilla/5.0 acme.com", "Mozilla/5.0 (acme.com)"},
	{hostAt, mozilla5, Program, BareMozilla, alone, "Mozilla/5.0 (acme.com)", "Mozilla/4.0 (acme.com)"},
	{weakTaskAt, likely, SelfDeclared, taskWord, alone, "AcmeSEO/1.0", "AcmeSync/1.0"},
	{weakTaskAt, always, Program, ProgramName, alone, "AcmeSync/1.0", "AcmeSync/1.0 (iPhone; iOS 17.0)"},
	{plusAt, noPlayer, SelfDeclared, Contact, alone, "Acme (+acme)", "AcmePlayer (+acme)"},
	{hostAt, noMozilla, SelfDeclared, HostName, alone, "Acme (acme.com)", "AcmePlayer (acme.com)"},
	{libraryAt, always, Library, LibraryWord, alone, "acme-httpclient/1.0", "acme-httpclient/1.0 (iPhone; iOS 17.0)"},
	{nameAt, namedProgram, Program, ProgramName, alone, "The Acmeware 1.0", "Acme;Acmeware;f00d;;3.2"},
	{firstAt, program, Program, ProgramName, alone, "ds9", "Acme;TV1;f00d;;3.2"},
	{firstAt, mozillaAlone, Program, BareMozilla, alone, "Mozilla/5.0", "Mozilla/5.0 (iPhone)"},
}

// nearRows is the number of the first rules, among which are all that count next to a row.
const nearRows = 6

// form is what a rule asks of a User-Agent, besides its evidence.
type form uint8

const (
	always form = iota
	crawlersName
	crawlersContact
	crawlersTask
	hook
	beforeBrowser
	besideBrowser
	besideSystem
	template
	compatible
	mozillaOnSystem
	browserAlone
	systemLast
	browserForTask
	bareMozilla
	mozilla5
	likely
	noPlayer
	noMozilla
	namedProgram
	program
	mozillaAlone
)

// is reports whether a User-Agent has a form. r is the rule that asks.
func (e *evidence) is(f form, r *rule, ua string) bool {
	at := e.at[r.at]
	switch f {
	case crawlersName:
		return e.isCrawlerAfterCompatible(ua)
	case crawlersContact:
		return e.isCrawlersContact(ua)
	case crawlersTask:
		return e.isCrawlersTask()
	case hook: // the delivery of events that a site asked for
		return e.has(roleHook) && !e.mozilla && !e.person
	case beforeBrowser:
		return at.start == 0 && e.beforeBrowser(ua[at.end:])
	case besideBrowser:
		return e.hostNextToBrowser(ua)
	case besideSystem:
		return e.mozilla && (e.onlySystem() || e.beforeSafari(ua, at))
	case template: // a version copied from documentation
		return e.mozilla && e.template
	case compatible:
		return at.start == 0 && e.has(roleCompatible) && !e.has(roleMozilla|roleClient)
	case mozillaOnSystem:
		return e.onlySystem() && strings.HasPrefix(ua, "Mozilla/5")
	case browserAlone:
		return e.words == 1 && e.has(roleMain) && e.has(roleChrome|roleSafari|roleIE)
	case systemLast:
		return !e.mozilla && e.onlySystem() && endsWithSystem(ua)
	case browserForTask:
		return !e.mozilla && e.likelyTask && e.roles&rolePerson == roleAnyBrowser
	case bareMozilla: // only a name outside the comment
		return e.is(mozilla5, r, ua) && !strings.Contains(ua[:at.start], "(")
	case mozilla5: // only a name; some old browsers have theirs in the comment
		return strings.HasPrefix(ua, "Mozilla/5") && !e.has(roleMobile|roleLike)
	case likely:
		return e.likelyTask
	case noPlayer:
		return !e.has(roleMedia)
	case noMozilla:
		return !e.has(roleMozilla | roleMedia)
	case namedProgram:
		return !e.has(roleMozilla|roleMedia) && e.words <= maxProgramWords && e.comments <= 1 && !isFieldList(ua) &&
			(at.start == 0 || bareProduct(ua) == 0) && !attachedVersion(ua)
	case program:
		return !e.mozilla && e.isProgram(ua)
	case mozillaAlone:
		return e.mozilla && e.words == 1
	}
	return true
}

// maxProgramWords bounds the words of a User-Agent that is only a program's name.
const maxProgramWords = 8
