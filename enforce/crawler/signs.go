package crawler

import (
	"strings"
	"unicode"
)

// declaresContact reports whether a contact is a crawler's. Apps give the address of their home page, and programs that add to Internet
// Explorer's User-Agent theirs.
func (e *evidence) declaresContact(ua string, person, mozilla bool) bool {
	switch {
	case e.plus && !e.has(roleApp) || e.contact.start == 0 || robotsPage(ua[e.contact.start:e.contact.end]):
		return true
	case mozilla && e.has(roleIE) && !e.has(roleMobile):
		return !e.inside || isMail(ua, e.contact) || !e.has(roleInstalled) && ownField(ua, e.contact)
	case mozilla:
		return !e.has(roleMobile) || e.wholeMobileBrowser(e.contact.start) || e.has(roleAndroid) && e.inside && e.contact.start < e.engine
	case !person:
		return !e.has(roleMedia)
	case !e.has(rolePerson) && isMail(ua, e.contact):
		return !e.has(roleMedia) // com.example.reader (mail@example.com): an app gives no address to write to
	}
	return e.name.ok() && e.name.start == 0 && !e.has(rolePlatform|roleApp|roleBrand|roleAndroid)
}

// isMail reports whether a contact is an e-mail address, spelt out or not.
func isMail(ua string, contact span) bool {
	text := ua[contact.start:contact.end]
	return !strings.Contains(text, "://") && strings.ContainsAny(text, "@ ")
}

// robotsPage reports whether a URL's path is that of a page on a robot: http://acme.example/bot.html.
func robotsPage(url string) bool {
	_, host, ok := strings.Cut(url, "://")
	if !ok {
		return false
	}
	slash := strings.IndexByte(host, '/')
	return slash >= 0 && parts(host[slash:])&roleStrong != 0
}

// ownField reports whether a span begins a field of a comment.
func ownField(ua string, s span) bool {
	before := strings.TrimRight(ua[:s.start], " ")
	return before != "" && (before[len(before)-1] == ';' || before[len(before)-1] == '(')
}

// declaresWork reports whether a word for a robot's work is a robot's. On mobile devices, consoles and televisions it can be the name of
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

// wholeMobileBrowser reports whether position i is behind all that Chrome on Android or Safari on iOS sends. Apps around a browser don't send
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

// desktop reports whether nothing indicates a telephone, a television, a
// device's maker or an app.
func (e *evidence) desktop() bool { return !e.has(roleMobile | roleBrand | roleApp | roleMedia) }

// onlySystem reports whether only a desktop system indicates a person: no
// browser, no engine, no device and no app's runtime.
func (e *evidence) onlySystem() bool {
	return e.desktop() && !e.has(roleEngine|roleBrowser|roleAnyBrowser) && e.has(rolePlatform|roleUnix)
}

// behindComment reports whether an unknown name follows the comment of a browser whose User-Agent ends with it, as Internet Explorer's does.
func (e *evidence) behindComment(ua string) bool {
	return strings.HasSuffix(strings.TrimRight(ua[:e.behind.start], " "), ")") && programName(ua[e.behind.start:e.behind.end])
}

// endsIn reports whether a name without a version, or one set off by a semicolon, follows Safari's product and is the last of the User-Agent:
// what browsers of other makers add to Chrome's has a version and no semicolon before it.
func (e *evidence) endsIn(ua string, name span) bool {
	if !foldHas(ua[e.browser:], "safari") || !programName(ua[name.start:name.end]) {
		return false
	}
	between, behind := ua[e.browser+len("safari"):name.start], ua[name.end:]
	if strings.IndexFunc(between, unicode.IsLetter) >= 0 {
		return false
	}
	if strings.HasSuffix(between, "; ") && strings.HasPrefix(behind, "/") {
		return !strings.ContainsAny(behind, " ([")
	}
	return strings.Trim(behind, " );,") == ""
}

// beforeSafari reports whether a name without a version stands alone between the comment on KHTML and Safari's product, as programs have it that
// show pages with a WebKit of their own. Safari has its version there, Chrome its product.
func (e *evidence) beforeSafari(ua string, name span) bool {
	return !e.has(roleChrome|roleVersion|roleAnyBrowser) && e.engine > 0 && strings.HasSuffix(ua[:name.start], ") ") &&
		foldHas(ua[name.end:], " safari/") && parts(ua[name.start:name.end])&roleBrowser == 0 && programName(ua[name.start:name.end])
}

// systemBehind reports whether a User-Agent ends with the system as .NET's programs name it: Acme 2013 (15.0.4797) Windows NT 10.0.
// Browsers have it in their comment.
func systemBehind(ua string) bool {
	i := strings.LastIndex(ua, " Windows NT ")
	return i > 0 && strings.Trim(ua[i+len(" Windows NT "):], "0123456789.") == ""
}

// fields reports whether a User-Agent consists of nothing but fields with semicolons or slashes between, as televisions and other devices send
// them: Acme;TV1;f00d;;3.2, A/11/unknown/TP320/arm/7471894.
func fields(ua string) bool {
	return (strings.Count(ua, ";") >= 2 || strings.Count(ua, "/") >= 5) && !strings.ContainsAny(ua, " ()")
}

// templateVersion reports whether a product goes on with a word for its version, as documentation has it. Privacy tools leave one letter over and over.
func templateVersion(s string) bool {
	if len(s) < 2 || s[0] != '/' || !letter(s[1]) {
		return false
	}
	hash, n := firstWord(s[1:])
	return baseTable.find(hash) == nil && !masked(s[1:1+n])
}

// gluedVersion reports whether a User-Agent begins with a name that its version follows without a blank or a slash: Java1.8.0_151.
// Devices have no dot in their names.
func gluedVersion(ua string) bool {
	n := 0
	for n < len(ua) && letter(ua[n]) {
		n++
	}
	name := n
	for n < len(ua) && digit(ua[n]) {
		n++
	}
	return name >= 4 && n > name && n+1 < len(ua) && ua[n] == '.' && digit(ua[n+1])
}

// insidePhrase reports whether the word at position i follows another of the same phrase (Acme Uptime Monitor).
func insidePhrase(ua string, i int) bool {
	return i >= 2 && ua[i-1] == ' ' && letter(ua[i-2])
}

// beforeBrowser reports whether the User-Agent goes on as a desktop browser's, which begins with "Mozilla" or is Internet Explorer's comment,
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

// robotAfterCompatible reports whether the name behind `compatible;` is a robot's. An unknown browser's says Browser, or it has no version and a
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
	if e.has(roleMobile) {
		return false // a television's or a handheld's browser
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

// outside reports whether a host name is the first or the last part of the
// User-Agent.
func (e *evidence) outside(ua string, first, last span) bool {
	end := " "
	if e.has(roleSafari) && last.start > e.browser {
		end = " )"
	}
	return first.start == 0 || last.end == len(strings.TrimRight(ua, end))
}

func (e *evidence) has(r role) bool { return e.roles&r != 0 }

// person reports whether there are words of a browser, an app or a device.
func (e *evidence) person() bool { return e.roles&rolePerson != 0 || e.appID }

// programName tells a program's name from a device's (LGU8120) and from a word that says too little: it has four letters before the first
// digit and two behind it at least, or four in lower case, and no part of it is a model's number (ACME-A877).
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
	if modelNumber(name) {
		return false
	}
	return before >= 6 || lower >= 4 && lower == letters-upperFirst(name)
}

// modelNumber reports whether a part of a name behind a hyphen or an underscore is a model's number: one to three upper-case letters, two to four
// digits, and two letters at most. V2024 is a version.
func modelNumber(name string) bool {
	for i := 1; i < len(name); i++ {
		if name[i-1] != '-' && name[i-1] != '_' {
			continue
		}
		k := i
		for k < len(name) && upper(name[k]) {
			k++
		}
		letters := k - i
		for k < len(name) && digit(name[k]) {
			k++
		}
		digits := k - i - letters
		for k < len(name) && letter(name[k]) && k-i-letters-digits < 2 {
			k++
		}
		if letters >= 1 && letters <= 3 && digits >= 2 && digits <= 4 && (k == len(name) || name[k] == '-' || name[k] == '_') && (letters > 1 || name[i] != 'V') {
			return true
		}
	}
	return false
}

// upperFirst is 1 where a name begins with an upper-case letter.
func upperFirst(name string) int {
	if upper(name[0]) {
		return 1
	}
	return 0
}
