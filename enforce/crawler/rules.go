package crawler

import "strings"

// rule says what a User-Agent without tokens is. The first rule that fits decides.
type rule struct {
	at     place // the evidence that must be there, and names the client
	form   form  // what else must hold
	class  Class // of the client
	reason Reason
	near   near
}

// near says next to what a rule counts.
type near uint8

const (
	alone   near = iota // nothing indicates a person, and no row of the registry matches
	browser             // something may indicate a person
	row                 // the same, and a row of the registry that is no crawler's may match, in another product
)

// rules has the strongest evidence first. TestRules has an example of each.
var rules = [...]rule{
	{probeAt, always, Probe, namedProbe, browser},
	{controlAt, always, SelfDeclared, ControlToken, row},
	{crawlerAt, always, SelfDeclared, CrawlerWord, row},
	{compatibleAt, crawlersName, SelfDeclared, CompatibleName, row},
	{khtmlAt, always, SelfDeclared, CommentName, browser},
	{contactAt, crawlersContact, SelfDeclared, Contact, row},
	{taskAt, hook, Webhook, taskWord, browser},
	{taskAt, crawlersTask, SelfDeclared, taskWord, browser},

	// a crawler or a program with words of a browser, and its own name where browsers have none
	{nameAt, beforeBrowser, Program, nameBefore, browser},
	{lastHostAt, besideBrowser, SelfDeclared, HostName, browser},
	{behindAt, besideSystem, Program, nameAfter, browser},
	{firstAt, template, Program, placeholderVersion, browser},
	{nameAt, compatible, SelfDeclared, CompatibleName, browser},
	{unknownAt, mozillaOnSystem, Program, BareMozilla, browser},
	{firstAt, browserAlone, Program, ProgramName, browser}, // Chrome never sends only its name
	{nameAt, systemLast, Program, ProgramName, browser},    // .NET
	{weakTaskAt, browserForTask, SelfDeclared, taskWord, browser},

	// weak evidence
	{unknownAt, bareMozilla, SelfDeclared, BareMozilla, alone},
	{unknownAt, mozilla5, Program, BareMozilla, alone},
	{hostAt, bareMozilla, SelfDeclared, BareMozilla, alone},
	{hostAt, mozilla5, Program, BareMozilla, alone},
	{weakTaskAt, likely, SelfDeclared, taskWord, alone},
	{weakTaskAt, always, Program, ProgramName, alone},
	{plusAt, noPlayer, SelfDeclared, Contact, alone},
	{hostAt, noMozilla, SelfDeclared, HostName, alone},
	{libraryAt, always, Library, LibraryWord, alone},
	{nameAt, namedProgram, Program, ProgramName, alone},
	{firstAt, program, Program, ProgramName, alone},
	{firstAt, mozillaAlone, Program, BareMozilla, alone},
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
