package crawler

import (
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
	e.mozilla, e.person = e.has(roleMozilla), e.has(rolePerson) || e.appID
	e.noteProbe(read)
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

// decide turns the evidence into agents. Tokens, which are in id already, count first, then the rules.
func (e *evidence) decide(ua string, id *Identity) {
	if e.has(roleForm) && !e.mozilla && platformForm(ua) {
		id.keep(func(i int) bool { return id.agents[i].knownCrawler() && e.shared&(1<<i) == 0 })
		return
	}
	if e.inName != 0 && e.person && !e.bindsNames(ua, id) {
		return
	}
	if id.n > 0 {
		e.filterTokens(ua, id)
	}
	if id.Class() < Webhook && id.n > 0 {
		if a := &id.agents[0]; a.Class == Named && a.Start == 0 && a.End == e.at[probeAt].end {
			a.Class = Probe
		}
		return
	}
	if e.words == 0 && id.n == 0 && !strings.ContainsAny(ua, "0123456789") {
		id.add(Agent{Class: Library, Reason: NoUserAgent})
		return
	}
	nearRow := id.n > 0 || e.app
	if e.person && e.found == 1<<firstAt && e.words > 1 && !e.template {
		return // nothing for which a rule asks
	}
	for i := range rules {
		r := &rules[i]
		if r.near == alone && e.person || nearRow && i >= nearRows {
			return
		}
		if e.found&(1<<r.at) != 0 && (!nearRow || r.near == row) && e.is(r.form, r, ua) {
			at := e.at[r.at]
			id.keep(func(i int) bool { return id.agents[i].Class == Library })
			name := e.product(ua, r.at, at)
			id.add(Agent{Class: r.class, Token: ua[name.start:name.end], Start: at.start, End: at.end, Reason: r.reason})
			return
		}
	}
}

// bindsNames reports whether the names that only the site knows count. In the User-Agent of a browser or an app they don't, whatever its name:
// a group for Wolvic would apply to people. The exception is a product behind those of a browser of a computer. If all others are a
// person's, id is empty then.
func (e *evidence) bindsNames(ua string, id *Identity) bool {
	names, all := e.inName, *id
	e.inName = 0
	behind := e.mozilla && e.desktop() && e.browserPos > 0
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

// noteProbe notes the first product if that is the name of a probe: Acme-HealthCheck/1.0. No word for a crawler may be in the User-Agent, and
// nothing that indicates a person.
func (e *evidence) noteProbe(ua string) {
	end := strings.IndexAny(ua, " /;(")
	if end < 0 {
		end = len(ua)
	}
	if !e.person && !e.has(roleCrawlerWord|roleCrawlerPart) && isProbeName(ua[:end]) {
		e.set(probeAt, 0, end)
	}
}

// filterTokens removes agents from id. If something indicates a person, it removes those with tokens that people's clients send too. It
// removes libraries and frameworks that another agent is made with.
func (e *evidence) filterTokens(ua string, id *Identity) {
	if e.shared != 0 && e.person && !e.ownDeclares && !(e.at[contactAt].ok() && e.isCrawlersContact(ua)) {
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
