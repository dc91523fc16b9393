package crawler

import "strings"

// span is a part of a User-Agent; it is empty if end is 0.
type span struct{ start, end int }

func (s span) ok() bool { return s.end > 0 }

// place is a kind of evidence that has a place in the User-Agent. The first of its kind counts unless a comment says otherwise.
type place uint8

const (
	firstAt      place = iota // the first word
	probeAt                   // the first product, if it has the name of a probe
	controlAt                 // a robots.txt token that no crawler sends
	crawlerAt                 // a word for a crawler
	compatibleAt              // the name after `compatible;`, unless browsers send it
	khtmlAt                   // an unknown word after `Gecko` in the comment that has the word KHTML
	contactAt                 // a URL or an e-mail address
	plusAt                    // the first word of a comment that begins with `+`, as contacts do
	taskAt                    // a word for what crawlers do (roleTask)
	weakTaskAt                // a word for what crawlers and other programs do (roleWeakTask); one with roleLikelyTask replaces one without
	libraryAt                 // a word for an HTTP client
	hostAt                    // a host name that is no contact, or has a `+` before it
	lastHostAt                // the last host name
	unknownAt                 // an unknown word of at least two octets that does not begin with a digit
	behindAt                  // an unknown word outside comments, after a comment
	nameAt                    // an unknown word that has the form of a program's name
	places
)

// evidence is what a scan found in a User-Agent in addition to tokens.
type evidence struct {
	roles   role // the roles of all words
	words   int  // words that are not numbers
	at      [places]span
	found   uint16 // bit p: at[p] is set
	mozilla bool   // the word Mozilla
	person  bool   // a word of a browser, an app or a device, or an app's identifier

	taskInComment    bool
	likelyTask       bool // the weak task has roleLikelyTask
	contactPlus      bool // a `+` comes before the contact
	contactInComment bool
	hostBeforeEngine bool // a host name comes after a comment and before the first layout engine
	enginePos        int  // position of the last layout engine
	browserPos       int  // position of the last word with roleMain
	appID            bool // there is a name in reverse-domain form: com.example.app
	template         bool // a browser's or an engine's version is a placeholder: Chrome/W.X.Y.Z
	comments         int  // opening parentheses and brackets

	shared      uint16 // bit i: apps send the token of agent i too
	inName      uint16 // bit i: only the site names agent i, by a token that is no declaration where it stands
	app         bool   // a token of an app that people use
	own         span   // the last token of a row that is no crawler's
	ownEnd      int    // end of that token's product and comment (see ownProduct)
	ownDeclares bool   // a word for a crawler, or a contact, belongs to that product
	productEnd  int    // end of the last word outside comments that can be the name of a product

	// the state of the scan
	depth          int  // of nested comments
	data           int  // of nested objects of JSON
	prevRole       role // of the previous word
	prevEnd        int  // the previous word's end
	device         int  // 1 + the depth of the comment that names an Android device; 0 outside such a comment
	khtml          int  // depth of the comment that has the word KHTML; 0 outside it
	gecko          bool // the word Gecko has been read in that comment
	like           bool // the previous word is `like`
	mail, mailWord int  // position of the word `at`, and its number
	compatibleEnd  int  // end of the word `compatible` until the next word is read; 0 otherwise
}

// set stores evidence.
func (e *evidence) set(p place, start, end int) {
	e.at[p] = span{start, end}
	e.found |= 1 << p
}

// note stores the first evidence of its kind.
func (e *evidence) note(p place, start, end int) {
	if !e.at[p].ok() {
		e.set(p, start, end)
	}
}

// begins reports whether evidence is at the beginning of the User-Agent.
func (e *evidence) begins(p place) bool { return e.at[p].ok() && e.at[p].start == 0 }

// ownProduct notes the product of a row that is no crawler's, whose token is ua[start:end], and the comment after it: what they declare,
// the row knows better. Inside a comment, the product ends with its field. A library to which another product comes before is part of that one,
// and after a browser's name it says nothing about the browser's comments.
func (e *evidence) ownProduct(ua string, class Class, start, end int) {
	if Registered <= class && class < Webhook || e.at[compatibleAt].ok() || class == Library && (e.productEnd > e.ownEnd || e.has(roleClient)) {
		return
	}
	e.own = span{start, end}
	if e.depth > 0 {
		e.ownEnd = end + max(0, strings.IndexAny(ua[end:], ";,)]"))
		return
	}
	for end < len(ua) && ua[end] != ' ' && !opens[ua[end]] {
		end++
	}
	for end < len(ua) && ua[end] == ' ' {
		end++
	}
	depth := 0
	for ; end < len(ua); end++ {
		switch c := ua[end]; {
		case opens[c]:
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		}
		if depth <= 0 {
			break
		}
	}
	e.ownEnd = max(e.ownEnd, end)
}

// opens has the octets with which comments begin: some package managers send JSON as their comment.
var opens = octets("([{")

// isCrawlersContact reports whether the contact shows that the client is a crawler. Apps send the address of their home page, and programs
// that extend Internet Explorer's User-Agent send theirs; browser extensions add a page's address.
func (e *evidence) isCrawlersContact(ua string) bool {
	declares := e.contactPlus || isMail(ua, e.at[contactAt])
	switch {
	case !e.mozilla && e.ofApp(ua), e.own.ok() && !declares && !e.contactInComment:
		return false
	case declares || e.at[contactAt].start == 0 || isCrawlersPage(ua[e.at[contactAt].start:e.at[contactAt].end]):
		return true
	case e.mozilla && e.has(roleIE) && !e.has(roleMobile):
		return !e.contactInComment || !e.has(roleInstalled) && startsField(ua, e.at[contactAt])
	case e.mozilla && e.contactInComment && e.ofExtension(ua):
		return false
	case e.mozilla:
		announced := e.contactInComment || startsField(ua, e.at[contactAt]) || !e.has(roleClient)
		return announced && (!e.has(roleMobile) || e.followsMobileBrowser(e.at[contactAt].start) ||
			e.has(roleAndroid) && e.contactInComment && e.at[contactAt].start < e.enginePos)
	case !e.person:
		return !e.has(roleMedia)
	}
	return e.begins(nameAt)
}

// ofExtension reports whether the contact is in the comment of a product behind the browser's own: UltraBlock/6 (https://acme.example).
func (e *evidence) ofExtension(ua string) bool {
	product := strings.TrimRight(ua[:max(0, strings.LastIndexByte(ua[:e.at[contactAt].start], '('))], " ")
	start := strings.LastIndexByte(product, ' ') + 1
	hash, n := firstWord(product[start:])
	s := baseTable.find(hash)
	return 0 < e.browserPos && e.browserPos < start && n > 0 && (s == nil || s.role&sentByBrowsers == 0)
}

// ofApp reports whether the contact is an app's. Services ask apps to name one, so it counts for nothing next to what makes a client an app: a
// system or a device that people use, a runtime of apps, a player, an app's identifier.
func (e *evidence) ofApp(ua string) bool {
	app := e.has(rolePlatform|roleApp|roleBrand|roleAndroid|roleMobile) || e.appID ||
		e.has(roleMedia) && !e.has(roleTask|roleWeakTask|roleLibrary) && !radio(ua[e.at[contactAt].start:e.at[contactAt].end])
	return app && e.at[contactAt].start > 0 && !isCrawlersPage(ua[e.at[contactAt].start:e.at[contactAt].end])
}

// isMail reports whether a contact is an e-mail address, and one written as `ops at acme dot com`.
func isMail(ua string, contact span) bool {
	text := ua[contact.start:contact.end]
	return !strings.Contains(text, "://") && strings.ContainsAny(text, "@ ")
}

// isCrawlersPage reports whether a URL's path has a word for a crawler: http://acme.example/bot.html.
func isCrawlersPage(url string) bool {
	_, host, ok := strings.Cut(url, "://")
	if !ok {
		return false
	}
	slash := strings.IndexByte(host, '/')
	return slash >= 0 && parts(host[slash:])&roleCrawlerWord != 0
}

// startsField reports whether a span is at the start of a comment's field.
func startsField(ua string, s span) bool {
	before := strings.TrimRight(ua[:s.start], " ")
	return before != "" && (before[len(before)-1] == ';' || before[len(before)-1] == '(')
}

// isCrawlersTask reports whether task shows that the client is a crawler. On mobile devices, consoles and televisions the word can be part
// of the name of an app that shows pages.
func (e *evidence) isCrawlersTask() bool {
	switch {
	case !e.person:
		return true
	case e.has(roleMobile):
		return e.followsMobileBrowser(e.at[taskAt].start)
	case e.has(roleIE) && e.has(roleInstalled) && e.taskInComment:
		return false // a program on a person's computer added it
	case e.mozilla || e.has(roleMain):
		return true
	}
	return !e.has(rolePerson&^roleApp | roleMedia)
}

// followsMobileBrowser reports whether position i is after the complete User-Agent of Chrome on Android or of Safari on iOS. Apps that show
// pages never send the complete one: on Android they add `wv` or Safari's version, on iOS they leave out Safari's name and version.
func (e *evidence) followsMobileBrowser(i int) bool {
	if i < e.browserPos || !e.has(roleSafari) || e.has(roleWebView|roleApp) {
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

// beforeSafari reports whether a name is alone, without a version, between the KHTML comment and Safari's product. Programs that embed
// WebKit put their name there; Safari puts its version there, and Chrome its product.
func (e *evidence) beforeSafari(ua string, name span) bool {
	return e.desktop() && !e.has(roleChrome|roleVersion|roleAnyBrowser) && e.enginePos > 0 && strings.HasSuffix(ua[:name.start], ") ") &&
		hasPrefixFold(ua[name.end:], " safari/") && parts(ua[name.start:name.end])&roleBrowser == 0 && programName(ua[name.start:name.end])
}

// beforeBrowser reports whether rest, the text after a name, is the rest of a browser's User-Agent: a desktop browser's, which begins
// with "Mozilla" or is Internet Explorer's comment, or any browser's after a comma.
func (e *evidence) beforeBrowser(rest string) bool {
	switch {
	case strings.HasPrefix(rest, ", Mozilla/"):
		return true
	case e.mozilla:
		return e.desktop() && e.has(rolePlatform|roleUnix) && !e.has(roleIE)
	}
	return e.desktop() && e.has(roleIE) && e.has(roleCompatible)
}

// isCrawlerAfterCompatible reports whether the name after `compatible;` is a crawler's. An unknown browser has the word Browser there, or
// it has no version and a layout engine follows. In the comments of Internet Explorer and of devices, the name can be anything.
func (e *evidence) isCrawlerAfterCompatible(ua string) bool {
	if e.enginePos > 0 && e.at[compatibleAt].start > e.browserPos && e.browserPos > e.enginePos {
		return true // after a browser's complete User-Agent
	}
	field := ua[e.at[compatibleAt].end:]
	switch {
	case e.has(roleIE):
		return false
	case versionFollows(field) && e.has(roleMain|roleForm|roleAndroid):
		return true // next to a browser's or a platform's own name
	case e.has(roleBrand | roleApp):
		return false
	}
	if e.at[contactAt].ok() || e.at[hostAt].ok() || e.at[taskAt].ok() || e.at[weakTaskAt].ok() {
		return true
	}
	if e.has(roleMobile) {
		return false // a television's or a handheld's browser
	}
	if i := strings.IndexAny(field, ";)"); i >= 0 {
		field = field[:i]
	}
	for word := range strings.FieldsSeq(field) {
		if hasPrefixFold(word, "browser") {
			return false
		}
	}
	return e.enginePos < e.at[compatibleAt].end || strings.HasPrefix(field, "/")
}

// versionFollows reports whether a name's version begins s.
func versionFollows(s string) bool { return len(s) > 1 && s[0] == '/' && digit(s[1]) }

// hostNextToBrowser reports whether a host name is where browsers have none: before the layout engine, or at the beginning or the end of a
// desktop browser's User-Agent.
func (e *evidence) hostNextToBrowser(ua string) bool {
	last, end := e.at[lastHostAt], " "
	if e.has(roleSafari) && last.start > e.browserPos {
		end = " )"
	}
	return e.mozilla && e.has(roleEngine|roleBrowser|roleAnyBrowser) &&
		(e.hostBeforeEngine || e.desktop() && (e.at[hostAt].start == 0 || last.end == len(strings.TrimRight(ua, end))))
}

func (e *evidence) has(r role) bool { return e.roles&r != 0 }
