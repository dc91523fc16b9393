package crawler

import (
	"cmp"
	"strings"
)

// Identify finds out who sent a User-Agent, in one pass over its first [MaxUserAgent] octets. It allocates nothing; the tokens in id are
// parts of the registry, of the site's tokens or of ua.
func (m *Matcher) Identify(ua string, id *Identity) {
	id.n = 0
	read := cut(ua)
	var e evidence
	m.scan(read, &e, id)
	e.decide(read, id)
	if len(ua) > MaxUserAgent {
		e.overlong(read, id)
	}
}

// overlong sees to a User-Agent longer than any browser's: where no robot is named in the part that was read, its first word stands for one.
func (e *evidence) overlong(ua string, id *Identity) {
	for i := range id.n {
		if c := id.agents[i].Class; c != Library && c != Program {
			return
		}
	}
	id.n = 0
	p := cmp.Or(e.name, e.first, span{0, 1})
	id.add(Agent{Class: SelfDeclared, Token: ua[p.start:p.end], Start: p.start, End: p.end, Reason: Overlong})
}

// cut shortens a User-Agent to MaxUserAgent octets, without a word that goes on behind them.
func cut(ua string) string {
	if len(ua) <= MaxUserAgent {
		return ua
	}
	n := MaxUserAgent
	for n > 0 && wordByte[ua[n]] != 0 && wordByte[ua[n-1]] != 0 {
		n--
	}
	if n == 0 {
		n = MaxUserAgent // one word
	}
	return ua[:n]
}

// span is a part of a User-Agent; empty if end is 0.
type span struct{ start, end int }

func (s span) ok() bool { return s.end > 0 }

// evidence is what a pass over a User-Agent found in addition to tokens.
type evidence struct {
	roles role // all that its words said
	words int  // words that are not numbers

	first        span   // the first word
	strong       span   // a word that says "crawler"
	control      Reason // ControlToken if that is what strong is
	work         span   // a word that names a robot's work
	workInside   bool   // it stands in a comment
	hint         span   // a word that may name a robot's work
	hintSure     bool   // it is a robot's rather than an app's
	library      span   // a word that names an HTTP client
	compat       span   // what follows `compatible;`, unless browsers send it
	contact      span   // a URL or an e-mail address
	plus         bool   // the contact has a `+` before it
	inside       bool   // the contact stands in a comment
	afterKHTML   span   // what a comment that begins with KHTML goes on with
	signed       span   // a comment that begins with `+`, as contacts do
	domain       span   // a host name that stands for itself
	lastDomain   span   // the last of them
	beforeEngine bool   // a host name stands between a comment and the first layout engine
	engine       int    // position of the last layout engine
	browser      int    // position of the last word of a browser that others repeat
	any          span   // the first unknown word of more than one octet that begins with no digit
	after        span   // the first word behind a comment that can be a program's name
	behind       span   // the first unknown word behind the last of a browser's own products
	name         span   // the first unknown word that can be a program's name
	appID        bool   // a name in reverse-domain form: com.example.app
	template     bool   // the version of a browser or its engine is a word, as documentation has it: Chrome/W.X.Y.Z
	comments     int    // opening parentheses

	shared uint16 // bit i: agent i rests on a token that apps send as well

	// where the pass is
	depth      int
	prev       role // of the word before
	prevEnd    int  // its end
	device     int  // 1 + the depth of the comment that names an Android device; 0 outside
	khtml      int  // depth of the comment that holds the word KHTML; 0 outside
	gecko      bool // the comment on KHTML has come to the word Gecko
	like       bool
	at, atWord int // position of the word `at`, and its number
	compatible int // end of the word `compatible` while the next word is awaited
}

// scan makes the pass: tokens go to id, everything else to e.
func (m *Matcher) scan(ua string, e *evidence, id *Identity) {
	for i := 0; i < len(ua); {
		if wordByte[ua[i]] == 0 {
			i = e.mark(ua, i)
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
		tok := m.token(s, hash, ua, start)
		if tok == nil && s == nil && !number && digit(ua[i-1]) {
			s, tok = m.versioned(ua, start, i)
		}
		if tok != nil {
			if end := start + len(tok.text); e.token(tok, ua, start, end, id) {
				i = end + versionTail(ua[end:])
				if s != nil {
					e.roles |= s.role & roleForm
				}
				continue
			}
		}
		switch {
		case s != nil && s.role != 0:
			i = e.known(s.role, ua, start, i)
		case !number:
			i = e.unknownWord(ua, start, i)
		}
		if !number {
			e.like = s != nil && s.role&roleLike != 0
		}
	}
}

// token returns the longest token, of the registry or of the site, that ua holds at position i.
func (m *Matcher) token(s *slot, hash uint64, ua string, i int) (tok *token) {
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

// versioned looks up the word ua[start:end] without the version that ends it: a token or a word before a hyphen (Wget-1), the name of a browser,
// an engine or a platform before digits (MSIE6).
func (m *Matcher) versioned(ua string, start, end int) (*slot, *token) {
	cut := end
	for cut > start && digit(ua[cut-1]) {
		cut--
	}
	if name := cutVersion(ua[start:end]); name > 0 {
		hash, _ := firstWord(ua[start : start+name])
		s := m.table.find(hash)
		return s, m.token(s, hash, ua, start)
	}
	const shortestName = 4 // of a browser that is told from a device's by itself
	if cut-start < shortestName {
		return nil, nil
	}
	hash, _ := firstWord(ua[start:cut])
	if s := m.table.find(hash); s != nil && s.role&(roleMozilla|roleEngine|roleBrowser|rolePlatform) != 0 {
		return s, nil
	}
	return nil, nil
}

// token takes in a token of the registry or of the site at ua[start:end]. It returns false where the token is no evidence.
func (e *evidence) token(tok *token, ua string, start, end int, id *Identity) bool {
	if inHost(ua, start, end) {
		return false
	}
	if e.device > 0 && !tok.knownCrawler || tok.shared && insidePhrase(ua, start) {
		return false
	}
	declared := e.compatible > 0 || e.khtml > 0 && e.khtml == e.depth // as the name of the client
	e.count(start, end)
	e.compatible = 0
	switch {
	case e.like:
	case tok.control:
		e.strong, e.control = span{start, end}, ControlToken
	case tok.crawler == nil:
		id.add(Agent{Class: Named, Token: tok.name, Start: start, End: end, Reason: SiteToken})
	default:
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

// count takes note of a word that is not a number.
func (e *evidence) count(start, end int) {
	if e.words == 0 {
		e.first = span{start, end}
	}
	e.words++
}

// mark takes in the octet between words at position i and returns the position of the next.
func (e *evidence) mark(ua string, i int) int {
	switch ua[i] {
	case '(', '[':
		e.depth++
		e.comments++
		if e.device == 0 && (strings.HasPrefix(ua[i:], "[FB") || ua[i] == '[' && e.has(roleMobile)) {
			e.device = e.depth + 1 // apps say the device, the carrier and more there: [FBAN/FBIOS;FBDV/iPhone14,5;FBCR/…]
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
	case '+':
		if i > 0 && ua[i-1] == '(' && i+1 < len(ua) && letter(ua[i+1]) && !e.signed.ok() {
			_, n := firstWord(ua[i+1:])
			e.signed = span{i + 1, i + 1 + n}
		}
	}
	return i + 1
}

// known takes in a word of the vocabulary and returns where the pass goes on.
func (e *evidence) known(r role, ua string, start, end int) int {
	e.count(start, end)
	if r&roleGecko != 0 && e.khtml == e.depth {
		e.gecko = true
	}
	if r&roleScheme != 0 {
		if stop := urlEnd(ua, end); stop > end {
			e.addContact(ua, start, stop)
			return stop
		}
	}
	if stop := e.host(ua, start, end); stop > end {
		return stop
	}
	if e.like {
		return end
	}
	switch {
	case r&roleAt != 0:
		e.at, e.atWord = start, e.words
		return end
	case r&roleDot != 0 && e.atWord > 0 && e.words-e.atWord <= 6:
		e.addContact(ua, e.at, end)
		return end
	case r&roleCompatible != 0:
		e.roles |= r
		if !strings.HasPrefix(ua[end:], " (") { // LG NetCast.TV-2013 Compatible (LGE, …)
			e.compatible = end
		}
		return end
	case e.compatible > 0 && r&sentByBrowsers == 0 && !e.compat.ok():
		e.compat = span{start, end}
	case r&roleAndroid != 0 && e.device == 0:
		e.device = e.depth + 1
	case r&roleEngine != 0 && e.device == 1:
		e.device = 0
	}
	e.compatible = 0
	e.prev, e.prevEnd = r, end
	if r&roleKHTML != 0 && e.depth > 0 {
		e.khtml, e.gecko = e.depth, false
	}
	if r&roleEngine != 0 {
		e.engine = start
	}
	if r&roleMain != 0 {
		e.browser, e.behind = start, span{}
	}
	if r&(roleChrome|roleGecko) != 0 && templateVersion(ua[end:]) {
		e.template = true
	}
	if e.device == 0 || r&(roleStrong|roleWork|roleHint|roleLibrary) == 0 {
		e.roles |= r
		e.evident(r, start, end)
	}
	return end
}

// unknownWord takes in a word that is neither a number nor in the vocabulary and returns where the pass goes on.
func (e *evidence) unknownWord(ua string, start, end int) int {
	if strings.Trim(ua[start:end], "-_") == "" {
		return end
	}
	e.count(start, end)
	if stop := e.host(ua, start, end); stop > end {
		return stop
	}
	if e.like || e.device > 0 {
		e.compatible = 0
		return end
	}
	if masked(ua[start:end]) {
		return end
	}
	if e.khtml > 0 && e.khtml == e.depth && e.gecko && !e.afterKHTML.ok() {
		e.afterKHTML = span{start, end}
	}
	r := parts(ua[start:end])
	e.roles |= r
	e.prev, e.prevEnd = r, end
	e.evident(r, start, end)
	if e.compatible > 0 && r&(roleBrowser|roleBrand|roleApp|rolePlatform) == 0 && !e.compat.ok() {
		e.compat = span{start, end}
	}
	e.compatible = 0
	if !e.any.ok() && end-start > 1 && !digit(ua[start]) {
		e.any = span{start, end}
	}
	if e.depth == 0 && e.comments > 0 && !e.after.ok() {
		e.after = span{start, end}
	}
	if e.browser > 0 && !e.behind.ok() {
		e.behind = span{start, end}
	}
	if !e.name.ok() && programName(ua[start:end]) {
		e.name = span{start, end}
	}
	return end
}

// masked reports whether a word is one letter over and over: what privacy tools leave of a browser's name.
func masked(word string) bool {
	for i := 1; i < len(word); i++ {
		if word[i] != word[0] {
			return false
		}
	}
	return len(word) > 1
}

// evident keeps the first word of each kind of evidence.
func (e *evidence) evident(r role, start, end int) {
	if r&roleStrong != 0 && !e.strong.ok() {
		e.strong = span{start, end}
	}
	if r&roleWork != 0 && !e.work.ok() {
		e.work, e.workInside = span{start, end}, e.depth > 0
	}
	if r&roleHint != 0 && (!e.hint.ok() || !e.hintSure && r&roleSure != 0) {
		e.hint, e.hintSure = span{start, end}, r&roleSure != 0
	}
	if r&roleLibrary != 0 && !e.library.ok() {
		e.library = span{start, end}
	}
}

// homePage reports whether an address is that of the browser or the app whose name stands before it: between is a version or a parenthesis.
func (e *evidence) homePage(between string) bool {
	return e.prev&(roleBrowser|roleAnyBrowser|roleApp) != 0 && e.prev&(roleMain|roleMozilla|roleEngine) == 0 && strings.ContainsAny(between, "(0123456789")
}

// addContact keeps the first contact. The address behind the name of a browser or an app, unless it has a `+` before it, is its home page.
func (e *evidence) addContact(ua string, start, end int) {
	plus := start > 0 && ua[start-1] == '+'
	if e.contact.ok() || start > 0 && (ua[start-1] == '\'' || ua[start-1] == '"') { // in quotes: a script's
		return
	}
	if !plus && e.prevEnd <= start && e.homePage(ua[e.prevEnd:start]) {
		return
	}
	if radio(ua[start:end]) {
		e.roles |= roleMedia
	}
	e.contact = span{start, end}
	e.plus = plus
	e.inside = e.depth > 0
}
