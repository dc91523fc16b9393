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

// Explain identifies a User-Agent like [Matcher.Identify] and lists the words that count as evidence. It allocates memory, so do not call it
// for each request.
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
		if tok := m.findToken(s, hash, ua, i); tok != nil {
			n = len(tok.text)
			x.Words = append(x.Words, Word{Start: i, End: i + n, Text: ua[i : i+n], Meaning: tok.meaning()})
		} else if meaning := wordMeaning(s, ua[i:i+n]); meaning != "" {
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
	var r role
	if s != nil && s.role != 0 {
		r = s.role
	} else {
		r = parts(word)
	}
	for _, m := range meanings {
		if r&m.role != 0 {
			return m.meaning
		}
	}
	return ""
}
