package crawler

import (
	"cmp"
	"strings"
)

// addOverlong handles a User-Agent that is longer than any browser's. Unless the part that was read names a crawler (an HTTP library or a
// program does not count), the first word of the User-Agent becomes the product token of a self-declared crawler.
func (e *evidence) addOverlong(ua string, id *Identity) {
	for i := range id.n {
		if c := id.agents[i].Class; c != Library && c != Program {
			return
		}
	}
	id.n = 0
	p := cmp.Or(e.at[nameAt], e.at[firstAt], span{0, 1})
	id.add(newAgent(ua, p, SelfDeclared, overlong))
}

// cut shortens a User-Agent to MaxUserAgent octets. It also leaves out a word that continues after them, because half a word could match a
// token that the whole word does not.
func cut(ua string) string {
	if len(ua) <= MaxUserAgent {
		return ua
	}
	n := MaxUserAgent
	for n > 0 && wordByte[ua[n]] != 0 && wordByte[ua[n-1]] != 0 {
		n--
	}
	if n == 0 {
		n = MaxUserAgent // there is only one word
	}
	return ua[:n]
}

// scan reads ua once. It adds the tokens to id and everything else to e.
func (m *Matcher) scan(ua string, e *evidence, id *Identity) {
	for i := 0; i < len(ua); {
		if wordByte[ua[i]] == 0 {
			i = e.readPunctuation(ua, i)
			continue
		}
		start, hash := i, uint64(hashSeed)
		number := true
		for i < len(ua) {
			c := wordByte[ua[i]]
			if c == 0 {
				break
			}
			hash = (hash ^ uint64(c)) * hashPrime
			number = number && c <= '9' && c >= '0'
			i++
		}
		s := m.table.find(hash)
		if s != nil && s.role&roleScheme != 0 && i+1 < len(ua) && (ua[i] == ':' || ua[i] == '.') {
			if tok, at := m.urlToken(ua, start, i); tok != nil && e.addToken(tok, ua, at, at+len(tok.text), id) {
				i = at + len(tok.text)
				continue
			}
		}
		tok := m.findToken(s, hash, ua, start)
		if tok == nil && s == nil && !number && digit(ua[i-1]) {
			s, tok = m.withoutVersion(ua, start, i)
		}
		if tok == nil && s == nil && !number && e.depth == 0 {
			tok = m.familyToken(ua, start, i)
		}
		if tok != nil {
			if end := start + len(tok.text); e.addToken(tok, ua, start, end, id) {
				if end += versionTail(ua[end:]); ua[end-1] != '-' {
					i = end
				}
				if s != nil {
					e.roles |= s.role & roleForm
				}
				continue
			}
		}
		switch {
		case s != nil && s.role != 0:
			i = e.readKnownWord(s.role, ua, start, i)
		case !number:
			i = e.readUnknownWord(ua, start, i)
		}
		if !number {
			e.like = s != nil && s.role&roleLike != 0
		}
	}
}

// findToken returns the longest token, of the registry or of the site, that ua has at position i; nil if there is none.
func (m *Matcher) findToken(s *slot, hash uint64, ua string, i int) (tok *token) {
	if s != nil && s.n > 0 {
		tok = m.table.match(s, ua, i)
	}
	if m.site != nil {
		if s := m.site.find(hash); s != nil {
			if t := m.site.match(s, ua, i); t != nil && (tok == nil || len(t.text) > len(tok.text)) {
				tok = t
			}
		}
	}
	return tok
}

// urlToken returns the token that is the URL which begins with the word ua[start:i], a scheme or `www`, and where the token begins; nil if
// there is none.
func (m *Matcher) urlToken(ua string, start, i int) (*token, int) {
	if strings.HasPrefix(ua[i:], "://") {
		start = i + len("://")
	}
	i = start
	if hasPrefixFold(ua[i:], "www.") {
		i += len("www.")
	}
	hash, _ := firstWord(ua[i:])
	s := m.table.find(hash)
	if s == nil || s.n == 0 {
		return nil, 0
	}
	for k := range m.table.tokens[s.first : s.first+s.n] {
		if tok := &m.table.tokens[s.first+uint32(k)]; tok.url && hasToken(ua[i:], tok.text) {
			return tok, i
		}
	}
	return nil, 0
}

// isURL reports whether ua[start:end] is a whole URL, apart from its scheme, `www.` and the slash at its end.
func isURL(ua string, start, end int) bool {
	before := ua[:start]
	if start >= len("www.") && hasPrefixFold(ua[start-len("www."):], "www.") {
		before = ua[:start-len("www.")]
	}
	if n := len(before); n > 0 && (wordByte[before[n-1]] != 0 || before[n-1] == '.' || before[n-1] == '@') {
		return false
	}
	after := strings.TrimPrefix(ua[end:], "/")
	return after == "" || endsURL[after[0]] || digit(after[0]) // a version
}

// withoutVersion looks up the word ua[start:end] without the version at its end: a token or a word before a hyphen (Wget-1), or the name of
// a browser, an engine or a platform before digits (MSIE6).
func (m *Matcher) withoutVersion(ua string, start, end int) (*slot, *token) {
	if name := cutVersion(ua[start:end]); name > 0 {
		hash, _ := firstWord(ua[start : start+name])
		s := m.table.find(hash)
		return s, m.findToken(s, hash, ua, start)
	}
	cut := beforeDigits(ua, start, end)
	const shortestName = 4 // a shorter name before digits can be a device's
	if cut-start < shortestName {
		return nil, nil
	}
	hash, _ := firstWord(ua[start:cut])
	s := m.table.find(hash)
	if versionTail(ua[cut:]) > 0 { // trendictionbot0.5.0
		if tok := m.findToken(s, hash, ua, start); tok != nil {
			return s, tok
		}
	}
	if s != nil && s.role&(roleMozilla|roleEngine|roleBrowser|rolePlatform) != 0 {
		return s, nil
	}
	return nil, nil
}

// familyToken returns the token of the registry that ends with a hyphen and with which the word ua[start:end] begins: `azsdk-` for
// azsdk-go-azcore.
func (m *Matcher) familyToken(ua string, start, end int) *token {
	if strings.IndexByte(ua[start:end], '-') < 0 {
		return nil
	}
	hash := uint64(hashSeed)
	for i := start; i < end; i++ {
		hash = (hash ^ uint64(wordByte[ua[i]])) * hashPrime
		if ua[i] != '-' {
			continue
		}
		if s := m.table.find(hash); s != nil && s.n > 0 {
			return m.table.match(s, ua, start)
		}
	}
	return nil
}

// beforeDigits returns the end of the word ua[start:end] without the digits at
// its end.
func beforeDigits(ua string, start, end int) int {
	for end > start && digit(ua[end-1]) {
		end--
	}
	return end
}

// addToken adds the token of the registry or of the site at ua[start:end]. It returns false if the token is no evidence there.
func (e *evidence) addToken(tok *token, ua string, start, end int, id *Identity) bool {
	inPhrase := tok.shared && (followsWord(ua, start) || start > 0 && ua[start-1] == '/')
	if tok.url && !isURL(ua, start, end) || !tok.url && inHost(ua, start, end) || e.device > 0 && !tok.allowedInDevice || inPhrase {
		return false
	}
	declared := e.compatibleEnd > 0 || e.khtml > 0 && e.khtml == e.depth // the token stands where a client states its name
	e.countWord(start, end)
	e.compatibleEnd = 0
	switch {
	case e.like:
	case tok.control:
		e.note(controlAt, start, end)
	case tok.crawler == nil:
		i := id.add(Agent{Class: Named, Token: tok.name, Start: start, End: end, Reason: SiteToken})
		if !declared && !tok.allowedInDevice {
			e.inName |= 1 << i
			e.noteName(ua, start, end)
		}
	case tok.crawler.Class == App:
		e.app = true
		e.ownProduct(ua, tok.crawler.Class, start, end)
	default:
		e.ownProduct(ua, tok.crawler.Class, start, end)
		n := id.n
		i := id.add(Agent{Class: tok.crawler.Class, Crawler: tok.crawler, Token: tok.name, Start: start, End: end, Reason: RegistryToken})
		if sure := !tok.shared || declared; sure {
			e.shared &^= 1 << i
		} else if i == n {
			e.shared |= 1 << i
		}
	}
	e.like = false
	return true
}

// countWord counts a word that is not a number.
func (e *evidence) countWord(start, end int) {
	if e.words == 0 {
		e.set(firstAt, start, end)
	}
	e.words++
}

// readPunctuation reads the octet between words at position i and returns the position of the next octet.
func (e *evidence) readPunctuation(ua string, i int) int {
	switch ua[i] {
	case '(', '[':
		e.depth++
		e.comments++
		if e.device == 0 && (strings.HasPrefix(ua[i:], "[FB") || ua[i] == '[' && e.has(roleMobile)) {
			e.device = e.depth + 1 // apps put the device, the carrier and more there: [FBAN/FBIOS;FBDV/iPhone14,5;FBCR/…]
		}
	case ')', ']':
		if e.depth > 0 {
			e.depth--
		}
		if e.khtml > e.depth {
			e.khtml = 0
		}
		if e.device > e.depth+1 {
			e.device = 0
		}
	case '{':
		if e.data > 0 || strings.HasPrefix(strings.TrimLeft(ua[i+1:], " "), `"`) {
			e.data++
		}
	case '}':
		e.data = max(0, e.data-1)
	case '+':
		if i > 0 && ua[i-1] == '(' && i+1 < len(ua) && letter(ua[i+1]) && !e.at[plusAt].ok() {
			_, n := firstWord(ua[i+1:])
			e.set(plusAt, i+1, i+1+n)
		}
	}
	return i + 1
}

// readKnownWord reads a word of the vocabulary and returns the position at which the scan continues.
func (e *evidence) readKnownWord(r role, ua string, start, end int) int {
	e.countWord(start, end)
	if r&declarations != 0 && (e.data > 0 || end < len(ua) && ua[end] == '=') {
		r &^= declarations
	}
	if r&roleGecko != 0 && e.khtml == e.depth {
		e.gecko = true
	}
	if r&roleScheme != 0 {
		if stop := urlEnd(ua, end); stop > end {
			e.addContact(ua, start, stop)
			return stop
		}
	}
	if stop := e.readHost(ua, start, end); stop > end {
		return stop
	}
	if e.like {
		return end
	}
	switch {
	case r&roleAt != 0:
		e.mail, e.mailWord = start, e.words
		return end
	case r&roleDot != 0 && e.mailWord > 0 && e.words-e.mailWord <= 6:
		e.addContact(ua, e.mail, end)
		return end
	case r&roleCompatible != 0:
		e.roles |= r
		if !strings.HasPrefix(ua[end:], " (") { // LG NetCast.TV-2013 Compatible (LGE, …)
			e.compatibleEnd = end
		}
		return end
	case e.compatibleEnd > 0 && r&sentByBrowsers == 0 && !e.at[compatibleAt].ok() && start >= e.ownEnd:
		e.set(compatibleAt, start, end)
	case r&roleAndroid != 0 && e.device == 0:
		e.device = e.depth + 1
	case r&roleEngine != 0 && e.device == 1:
		e.device = 0
	}
	e.compatibleEnd = 0
	e.prevRole, e.prevEnd = r, end
	if r&roleKHTML != 0 && e.depth > 0 {
		e.khtml, e.gecko = e.depth, false
	}
	if r&roleEngine != 0 {
		e.enginePos = start
	}
	if r&roleMain != 0 {
		e.browserPos = start
	}
	if r&(roleChrome|roleGecko) != 0 && templateVersion(ua[end:]) {
		e.template = true
	}
	if e.device == 0 || r&(roleCrawlerWord|roleTask|roleWeakTask|roleLibrary) == 0 {
		e.roles |= r
		e.keepFirst(r, ua, start, end)
	}
	return end
}

// readUnknownWord reads a word that is neither a number nor in the vocabulary and returns the position at which the scan continues.
func (e *evidence) readUnknownWord(ua string, start, end int) int {
	if strings.Trim(ua[start:end], "-_") == "" {
		return end
	}
	e.countWord(start, end)
	if stop := e.readHost(ua, start, end); stop > end {
		return stop
	}
	if e.like || e.device > 0 && !(e.compatibleEnd > 0 && versionFollows(ua[end:])) {
		e.compatibleEnd = 0
		return end
	}
	if masked(ua[start:end]) {
		return end
	}
	if e.khtml > 0 && e.khtml == e.depth && e.gecko && !e.at[khtmlAt].ok() {
		e.set(khtmlAt, start, end)
	}
	r := parts(ua[start:end])
	if r&declarations != 0 && (e.data > 0 || end < len(ua) && ua[end] == '=') {
		r &^= declarations
	}
	e.roles |= r
	e.prevRole, e.prevEnd = r, end
	name := end
	if cut := beforeDigits(ua, start, end); cut < end && versionTail(ua[cut:]) > 0 {
		name = cut // AcmeBot0.5.0
	}
	e.keepFirst(r, ua, start, name)
	if e.compatibleEnd > 0 && r&(roleBrowser|roleBrand|roleApp|rolePlatform) == 0 && !e.at[compatibleAt].ok() && start >= e.ownEnd {
		e.set(compatibleAt, start, end)
	}
	e.compatibleEnd = 0
	e.noteName(ua, start, end)
	return end
}

// noteName stores the first name that neither the vocabulary nor the registry knows, by its places.
func (e *evidence) noteName(ua string, start, end int) {
	if end-start > 1 && !digit(ua[start]) {
		e.note(unknownAt, start, end)
	}
	if e.depth == 0 && e.comments > 0 {
		e.note(behindAt, start, end)
	}
	if !e.at[nameAt].ok() && programName(ua[start:end]) {
		e.set(nameAt, start, end)
	}
}

// declarations are the roles of words that count in the place of a product only. The names and values of JSON, and the `name` of `name=value`,
// are none.
const declarations = roleCrawlerWord | roleTask | roleWeakTask

// keepFirst stores the first word of each kind of evidence.
func (e *evidence) keepFirst(r role, ua string, start, end int) {
	const evidence = roleCrawlerWord | roleTask | roleWeakTask | roleLibrary
	if r&sentByBrowsers != 0 && r&evidence == 0 {
		return
	}
	if start < e.ownEnd {
		e.ownDeclares = e.ownDeclares || r&roleCrawlerWord != 0
	} else if r&roleCrawlerWord != 0 {
		e.note(crawlerAt, start, end)
	}
	if e.depth == 0 && r&sentByBrowsers == 0 && start >= e.ownEnd &&
		(e.ownEnd == 0 || !hasPrefixFold(ua[start:], ua[e.own.start:e.own.end])) {
		e.productEnd = end
	}
	if r&roleTask != 0 && !e.at[taskAt].ok() {
		e.set(taskAt, start, end)
		e.taskInComment = e.depth > 0
	}
	if likely := r&roleLikelyTask != 0; r&roleWeakTask != 0 && (!e.at[weakTaskAt].ok() || !e.likelyTask && likely) {
		e.set(weakTaskAt, start, end)
		e.likelyTask = likely
	}
	if r&roleLibrary != 0 {
		e.note(libraryAt, start, end)
	}
}

// homePage reports whether an address is the home page of the browser or the app named before it. between, the
// text between the two, must have an opening parenthesis, or a digit as in a version.
func (e *evidence) homePage(between string) bool {
	return e.prevRole&(roleBrowser|roleAnyBrowser|roleApp) != 0 && e.prevRole&(roleMain|roleMozilla|roleEngine) == 0 &&
		strings.ContainsAny(between, "(0123456789")
}

// addContact stores the first contact. An address after the name of a browser or an app is its home page, not a contact, unless a `+` comes
// before it. One that belongs to the product of a row that is no crawler's does not count.
func (e *evidence) addContact(ua string, start, end int) {
	plus := start > 0 && ua[start-1] == '+'
	if e.at[contactAt].ok() || start > 0 && (ua[start-1] == '\'' || ua[start-1] == '"') { // a script has it in quotes
		return
	}
	if e.ownEnd > 0 && e.productEnd <= e.ownEnd { // no further product comes before it
		e.ownDeclares = e.ownDeclares || plus || isMail(ua, span{start, end})
		return
	}
	if !plus && e.prevEnd <= start && e.homePage(ua[e.prevEnd:start]) {
		return
	}
	if radio(ua[start:end]) {
		e.roles |= roleMedia
	}
	e.set(contactAt, start, end)
	e.contactPlus = plus
	e.contactInComment = e.depth > 0
}
