package crawler

// Explanation is the result of [Matcher.Explain]. It is for display, not for
// the request path.
type Explanation struct {
	Identity Identity
	Words    []Word // the words that were taken into account, in the order of their place
}

// Word is a part of a User-Agent and what it indicates.
type Word struct {
	Start, End int
	Text       string
	Says       string
}

// meanings says what a word's roles mean, the first that fits.
var meanings = []struct {
	role role
	says string
}{
	{roleStrong, "a word for a crawler"},
	{roleWork, "a robot's work"},
	{roleHint, "maybe a robot's work"},
	{roleLibrary, "an HTTP client"},
	{roleEngine, "a layout engine"},
	{roleAndroid, "an operating system; the device's name follows"},
	{roleBrowser | roleAnyBrowser, "a browser or an app"},
	{roleApp, "an app or a player"},
	{rolePlatform, "an operating system or a machine"},
	{roleUnix, "an operating system of people and of servers"},
	{roleBrand, "a maker of devices"},
	{roleMedia, "music, broadcasts, podcasts"},
	{roleMozilla, "the word that browsers begin with"},
	{roleCompatible, "the client's name follows"},
	{roleLike, "a comparison follows"},
}

// Explain identifies a User-Agent as [Matcher.Identify] does, and lists the words that it took into account.
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
		if tok := m.token(s, hash, ua, i); tok != nil {
			n = len(tok.text)
			x.Words = append(x.Words, Word{Start: i, End: i + n, Text: ua[i : i+n], Says: tok.says()})
		} else if says := wordSays(s, ua[i:i+n]); says != "" {
			x.Words = append(x.Words, Word{Start: i, End: i + n, Text: ua[i : i+n], Says: says})
		}
		i += n
	}
	return x
}

func (t *token) says() string {
	switch {
	case t.control:
		return ControlToken.String()
	case t.crawler == nil:
		return SiteToken.String()
	case t.shared:
		return "a token that " + t.crawler.Name + " shares with apps"
	}
	return "a token of " + t.crawler.Name
}

func wordSays(s *slot, word string) string {
	var r role
	if s != nil && s.role != 0 {
		r = s.role
	} else {
		r = parts(word)
	}
	for _, m := range meanings {
		if r&m.role != 0 {
			return m.says
		}
	}
	return ""
}
