package crawler

// Explanation is the result of [Matcher.Explain].
type Explanation struct {
	Identity Identity
	Words    []Word // the words that count as evidence, in the order in which they occur
}

// Word is a word or a token of a User-Agent and what it indicates.
type Word struct {
	Start, End int    // its octets in the User-Agent
	Text       string // as sent
	Meaning    string // what it indicates, in a few words
}

// meanings describes roles. For a word with several roles, the first entry that has one of them counts.
var meanings = []struct {
	role    role
	meaning string
}{
	{roleCrawlerWord, "a word for a crawler"},
	{roleTask, "a word for what crawlers do"},
	{roleWeakTask, "a word for what crawlers and other programs do"},
	{roleLibrary, "an HTTP client, or a word for one"},
	{roleEngine, "a layout engine"},
	{roleAndroid, "an operating system; the device's name follows"},
	{roleBrowser | roleAnyBrowser, "a browser or an app"},
	{roleApp, "an app or a player"},
	{rolePlatform, "an operating system or a device"},
	{roleUnix, "an operating system that people and servers use"},
	{roleBrand, "a maker of devices"},
	{roleMedia, "music, broadcasts, podcasts"},
	{roleMozilla, "the word with which browsers' User-Agents begin"},
	{roleCompatible, "the client's name follows"},
	{roleLike, "a comparison follows"},
}

// Explain identifies a User-Agent like [Matcher.Identify] and lists the words that count as evidence. It allocates memory, so do not call
// it for each request.
func (m *Matcher) Explain(ua string) Explanation {
	var x Explanation
	m.Identify(ua, &x.Identity)
	ua = cut(ua)
	for i := 0; i < len(ua); {
		hash, n := firstWord(ua[i:])
		if n == 0 {
			i++
			continue
		}
		s := m.table.find(hash)
		meaning := wordMeaning(s, ua[i:i+n])
		if tok := m.findToken(s, hash, ua, i); tok != nil {
			n, meaning = len(tok.text), tok.meaning()
		}
		if meaning != "" {
			x.Words = append(x.Words, Word{Start: i, End: i + n, Text: ua[i : i+n], Meaning: meaning})
		}
		i += n
	}
	return x
}

// meaning describes what the token indicates.
func (t *token) meaning() string {
	switch {
	case t.control:
		return ControlToken.String()
	case t.crawler == nil:
		return SiteToken.String()
	case t.shared:
		return "a token of " + t.crawler.Name + " that apps send too"
	}
	return "a token of " + t.crawler.Name
}

// wordMeaning describes what a word indicates; "" if it is no evidence.
func wordMeaning(s *slot, word string) string {
	r := parts(word)
	if s != nil && s.role != 0 {
		r = s.role
	}
	for _, m := range meanings {
		if r&m.role != 0 {
			return m.meaning
		}
	}
	return ""
}

// Reason is why a User-Agent, or a part of it, names a crawler.
type Reason uint8

// The reasons. After NoReason, which means no evidence, they are in the order from the strongest evidence to the weakest. The Strength of
// RegistryToken and SiteToken is ByToken, of ControlToken to namedProbe Declaration, and of the others ByForm.
const (
	NoReason           Reason = iota
	RegistryToken             // a User-Agent token of the registry
	SiteToken                 // a token that the site's robots.txt names
	ControlToken              // a preference in robots.txt, which no crawler sends: no group but that for `*` applies
	CrawlerWord               // a word for a crawler: bot, AcmeSpider, AcmeCrawlerd
	CompatibleName            // a name after `compatible;` that browsers don't send
	CommentName               // a name in the comment that begins with KHTML; browsers have only `KHTML, like Gecko` there
	Contact                   // a URL or an e-mail address, and one written as `ops at acme dot com`
	taskWord                  // a word for what crawlers do: AcmeChecker, AcmeMonitor
	namedProbe                // a health check's name: AcmeHealthCheck, acme-probe
	nameBefore                // a name before `Mozilla/5.0`, with which browsers' User-Agents begin
	nameAfter                 // a name after an engine's comment, where browsers have their own product
	placeholderVersion        // a placeholder instead of a browser's version: Chrome/W.X.Y.Z
	BareMozilla               // `Mozilla/5.0` without a browser or an engine
	HostName                  // a host name in place of a product
	LibraryWord               // a word for an HTTP client
	ProgramName               // only a program's name
	overlong                  // longer than MaxUserAgent octets
	// the request has more User-Agent header fields than any browser sends; package enforce sets it, Identify never does
	ManyFields
	NoUserAgent // empty, or without words and digits
)

var reasonTexts = [...]string{
	NoReason:           "",
	RegistryToken:      "a User-Agent token of the registry",
	SiteToken:          "a token of the site's robots.txt",
	ControlToken:       "a preference in robots.txt, and not the name of a crawler",
	CrawlerWord:        "a word for a crawler",
	CompatibleName:     "a name after \"compatible\" that browsers don't send",
	CommentName:        "a name in the KHTML comment, where browsers have none",
	Contact:            "a contact",
	taskWord:           "a word for what crawlers do",
	namedProbe:         "a health check's name",
	nameBefore:         "a name before \"Mozilla\", with which browsers' User-Agents begin",
	nameAfter:          "a name where browsers have their product",
	placeholderVersion: "a placeholder instead of a browser's version",
	BareMozilla:        "\"Mozilla/5.0\" without a browser or an engine",
	HostName:           "a host name in place of a product",
	LibraryWord:        "a word for an HTTP client",
	ProgramName:        "only a program's name",
	overlong:           "a User-Agent longer than any browser's",
	ManyFields:         "more User-Agent fields than any browser sends",
	NoUserAgent:        "no User-Agent",
}

// String describes the reason in a few words; it is empty for NoReason.
func (r Reason) String() string { return nameOf(reasonTexts[:], r) }

// Strength is how strong the evidence is that a crawler sent a User-Agent.
type Strength uint8

// The strengths. After noStrength, which means no evidence, the greatest is first: of the others, a smaller value is stronger.
const (
	noStrength  Strength = iota
	ByToken              // a token of the registry, or one that the site's robots.txt names
	Declaration          // the client declares that it is a crawler: by a word for one, a contact, or a name where browsers have none
	ByForm               // only the form of the User-Agent: a program's name alone, an HTTP client's name, no User-Agent
)

var strengthNames = [...]string{noStrength: "", ByToken: "token", Declaration: "declaration", ByForm: "form"}

// String returns "token", "declaration" or "form"; "" for no evidence.
func (s Strength) String() string { return nameOf(strengthNames[:], s) }

// Strength returns the strength of the reason as evidence.
func (r Reason) Strength() Strength {
	switch r {
	case NoReason:
		return noStrength
	case RegistryToken, SiteToken:
		return ByToken
	case ControlToken, CrawlerWord, CompatibleName, CommentName, Contact, taskWord, namedProbe:
		return Declaration
	}
	return ByForm
}
