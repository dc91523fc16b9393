package crawler

import (
	"strings"
	"unicode"
)

// declaresContact tells whether a contact is a crawler's. Apps give the address of their home page, and programs that add to Internet
// Explorer's User-Agent theirs.
func (e *evidence) declaresContact(ua string, person, mozilla bool) bool {
	switch {
	case e.plus && !e.has(roleApp) || e.contact.start == 0:
		return true
	case mozilla && e.has(roleIE) && !e.has(roleMobile):
		return !e.inside || isMail(ua, e.contact) || !e.has(roleInstalled) && ownField(ua, e.contact)
	case mozilla:
		return !e.has(roleMobile) || e.wholeMobileBrowser(e.contact.start) || e.has(roleAndroid) && e.inside && e.contact.start < e.engine
	case !person:
		return !e.has(roleMedia)
	}
	return e.name.ok() && e.name.start == 0 && !e.has(rolePlatform|roleApp|roleBrand|roleAndroid)
}

// isMail tells whether a contact is an e-mail address, spelt out or not.
func isMail(ua string, contact span) bool {
	text := ua[contact.start:contact.end]
	return !strings.Contains(text, "://") && strings.ContainsAny(text, "@ ")
}

// ownField tells whether a span begins a field of a comment.
func ownField(ua string, s span) bool {
	before := strings.TrimRight(ua[:s.start], " ")
	return before != "" && (before[len(before)-1] == ';' || before[len(before)-1] == '(')
}

// declaresWork tells whether a word for a robot's work is a robot's. On mobile devices, consoles and televisions it can be the name of
// the app around the browser.
func (e *evidence) declaresWork(person, mozilla bool) bool {
	switch {
	case !person:
		return true
	case e.has(roleMobile):
		return e.wholeMobileBrowser(e.work.start)
	case e.has(roleIE) && e.has(roleInstalled) && e.workInside:
		return false // what a program on a person's machine added
	case mozilla || e.has(roleMain):
		return true
	}
	return !e.has(rolePerson&^roleApp | roleMedia)
}

// wholeMobileBrowser tells whether position i is behind all that Chrome on Android or Safari on iOS sends. Apps around a browser don't send
// that: on Android they have `wv` or a version of Safari's, on iOS neither that version nor Safari's name.
func (e *evidence) wholeMobileBrowser(i int) bool {
	if i < e.browser || !e.has(roleSafari) || e.has(roleWebView|roleApp) {
		return false
	}
	if e.has(roleAndroid) {
		return e.has(roleChrome) && !e.has(roleVersion)
	}
	return e.has(roleVersion) && e.has(roleForm)
}

// desktop tells whether nothing speaks for a telephone, a television, a device's maker or an app.
func (e *evidence) desktop() bool { return !e.has(roleMobile | roleBrand | roleApp | roleMedia) }

// onlySystem tells whether nothing but a desktop system speaks for a person: no browser, no engine, no device and no app's runtime.
func (e *evidence) onlySystem() bool {
	return e.desktop() && !e.has(roleEngine|roleBrowser|roleAnyBrowser) && e.has(rolePlatform|roleUnix)
}

// behindComment tells whether an unknown name follows the comment of a browser whose User-Agent ends with it, as Internet Explorer's does.
func (e *evidence) behindComment(ua string) bool {
	return strings.HasSuffix(strings.TrimRight(ua[:e.behind.start], " "), ")") && programName(ua[e.behind.start:e.behind.end])
}

// endsIn tells whether a name without a version follows Safari's product and is the last of the User-Agent: what browsers of other makers
// add to Chrome's has one.
func (e *evidence) endsIn(ua string, name span) bool {
	return foldHas(ua[e.browser:], "safari") && strings.IndexFunc(ua[e.browser+len("safari"):name.start], unicode.IsLetter) < 0 &&
		!strings.ContainsAny(ua[name.end:], "/.0123456789([") && programName(ua[name.start:name.end])
}

// beforeBrowser tells whether the User-Agent goes on as a desktop browser's, which begins with "Mozilla" or is Internet Explorer's comment,
// or as any browser's behind a comma.
func (e *evidence) beforeBrowser(ua string, mozilla bool) bool {
	if strings.HasPrefix(ua[e.name.end:], ", Mozilla/") {
		return true
	}
	if !e.desktop() {
		return false
	}
	if mozilla {
		return e.has(rolePlatform|roleUnix) && !e.has(roleIE)
	}
	return e.has(roleIE) && e.has(roleCompatible)
}

// robotAfterCompatible tells whether the name behind `compatible;` is a robot's. An unknown browser's says Browser, or it has no version and a
// layout engine follows; Internet Explorer's comment and those of devices hold names of all kinds.
func (e *evidence) robotAfterCompatible(ua string) bool {
	if e.engine > 0 && e.compat.start > e.browser && e.browser > e.engine {
		return true // behind all that makes a browser's User-Agent
	}
	if e.has(roleIE | roleBrand | roleApp) {
		return false
	}
	if e.contact.ok() || e.domain.ok() || e.work.ok() || e.hint.ok() {
		return true
	}
	field := ua[e.compat.end:]
	if i := strings.IndexAny(field, ";)"); i >= 0 {
		field = field[:i]
	}
	for word := range strings.FieldsSeq(field) {
		if foldHas(word, "browser") {
			return false
		}
	}
	return e.engine < e.compat.end || strings.HasPrefix(field, "/")
}

// outside tells whether a host name stands before or behind all else.
func (e *evidence) outside(ua string, first, last span) bool {
	end := " "
	if e.has(roleSafari) && last.start > e.browser {
		end = " )"
	}
	return first.start == 0 || last.end == len(strings.TrimRight(ua, end))
}

func (e *evidence) has(r role) bool { return e.roles&r != 0 }

// person tells whether there are words of a browser, an app or a device.
func (e *evidence) person() bool { return e.roles&rolePerson != 0 || e.appID }

// programName tells a program's name from a device's (LGU8120) and from a word that says too little: it has four letters before the first
// digit and two behind it at least, or four in lower case.
func programName(name string) bool {
	var letters, before, lower int
	before = -1
	for i := range len(name) {
		switch c := name[i]; {
		case letter(c):
			letters++
			if !upper(c) {
				lower++
			}
		case digit(c) && before < 0:
			before = letters
		}
	}
	if before < 0 {
		return letters >= 4
	}
	return before >= 6 || lower >= 4 && lower == letters-upperFirst(name)
}

// upperFirst is 1 where a name begins with an upper-case letter.
func upperFirst(name string) int {
	if upper(name[0]) {
		return 1
	}
	return 0
}
