package crawler

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
)

// naiveToken is a token that the naive search found in a User-Agent.
type naiveToken struct {
	name       string
	start, end int
}

var (
	naiveWord     = regexp.MustCompile(`^[0-9A-Za-z_\x{80}-\x{10ffff}-]+`)
	naiveURL      = regexp.MustCompile(`^(?i:https?|ftp):/[^ \t);,"'<>\[\]{}|]`)
	naiveTail     = regexp.MustCompile(`^[-_][vV]?[0-9]+([-_][0-9]+)*`)
	naiveDotted   = regexp.MustCompile(`^([0-9]+)\.[0-9]`)
	naiveGlued    = regexp.MustCompile(`^(.{4,}?)[0-9]+$`)
	naiveInPhrase = regexp.MustCompile(`[A-Za-z] $`)
	naiveURLEnd   = regexp.MustCompile(`^[^ \t);,"'<>\[\]{}|]*`)
)

// naiveTokens finds tokens by the rules in the package's documentation, with one comparison for each token at each word. From left to right, it
// takes the longest token of the registry or the site that begins and ends with a word. It skips tokens inside another token, in a URL, in a
// host name, in an e-mail address, or in the name of an Android device if they do not count there, and tokens that apps send too if they
// come right after another word.
func naiveTokens(m *Matcher, ua string) []naiveToken {
	tables := []*wordTable{m.table}
	if m.site != nil {
		tables = append(tables, m.site)
	}
	var out []naiveToken
	var e evidence // only the state of the scan: comments and the device
	for i := 0; i < len(ua); {
		word := wordAt(ua, i)
		if word == "" {
			i = e.readPunctuation(ua, i)
			continue
		}
		if tok, n := naiveURLToken(m, ua, i); tok != nil && (e.device == 0 || tok.allowedInDevice) {
			if !e.like {
				out = append(out, naiveToken{tok.name, i + n, i + n + len(tok.text)})
			}
			e.like = false
			i += n + len(tok.text)
			continue
		}
		end, best := i+len(word), (*token)(nil)
		for _, t := range tables {
			for k := range t.tokens {
				tok := &t.tokens[k]
				if !tok.url && naiveHas(ua[i:], tok.text) && (e.depth == 0 || len(word) == len(tok.text) || !strings.HasSuffix(tok.text, "-")) && (best == nil || len(tok.text) > len(best.text)) {
					best = tok
				}
			}
		}
		if best != nil && !naiveInHost(ua, i, i+len(best.text)) && (e.device == 0 || best.allowedInDevice) && !(best.shared && (naiveInPhrase.MatchString(ua[:i]) || strings.HasSuffix(ua[:i], "/"))) {
			if !e.like && !best.control {
				out = append(out, naiveToken{best.name, i, i + len(best.text)})
			}
			e.like = false
			i += len(best.text)
			if strings.HasSuffix(best.text, "-") {
				i = end
			} else {
				i += len(naiveVersion(ua[i:]))
			}
			continue
		}
		number := strings.Trim(word, "0123456789") == ""
		r := naiveRole(word)
		switch {
		case r&roleScheme != 0 && naiveURL.MatchString(ua[i:]):
			i = end + len(naiveURLEnd.FindString(ua[end:]))
		case r != 0 || !number:
			stop := (&evidence{}).readHost(ua, i, end)
			if stop == end && !e.like {
				if r&roleAndroid != 0 && e.device == 0 {
					e.device = e.depth + 1
				} else if r&roleEngine != 0 && e.device == 1 {
					e.device = 0
				}
			}
			i = stop
		default:
			i = end
		}
		if !number {
			e.like = r&roleLike != 0
		}
	}
	return out
}

var naiveForms = map[string]*regexp.Regexp{}

// naiveURLToken returns the token that is the whole URL at position i, and the length of the scheme and `www.` before it.
func naiveURLToken(m *Matcher, ua string, i int) (*token, int) {
	if i > 0 && (ua[i-1] == '.' || ua[i-1] == '@') {
		return nil, 0
	}
	for k := range m.table.tokens {
		if tok := &m.table.tokens[k]; tok.url {
			form := naiveForms[tok.text]
			if form == nil {
				form = regexp.MustCompile(`^((?i:https?://|ftp://)?(?i:www\.)?)(?i:` + regexp.QuoteMeta(tok.text) + `)/?([ \t);,"'<>\[\]{}|0-9]|$)`)
				naiveForms[tok.text] = form
			}
			if found := form.FindStringSubmatchIndex(ua[i:]); found != nil {
				return tok, found[3]
			}
		}
	}
	return nil, 0
}

// wordAt returns the word that begins at position i. It compares octets, because a User-Agent may not be UTF-8.
func wordAt(s string, i int) string {
	n := i
	for n < len(s) && (s[n] >= 0x80 || naiveWord.MatchString(s[n:n+1])) {
		n++
	}
	return s[i:n]
}

func naiveHas(s, text string) bool {
	if len(s) < len(text) || !equalFoldASCII(strings.ReplaceAll(s[:len(text)], "+", " "), text) {
		return false
	}
	if wordAt(text, len(text)-1) == "" || strings.HasSuffix(text, "-") || wordAt(s, len(text)) == "" {
		return true
	}
	rest := s[len(text):]
	if naiveDotted.MatchString(rest) && wordAt(text, 0) == text && (len(text) < 4 || digit(text[len(text)-1])) {
		return false // a short name, or one that ends with a digit, before digits can be another name
	}
	return naiveVersion(rest) != ""
}

// naiveVersion returns the version at the beginning of s, where s follows a name in the same word.
func naiveVersion(s string) string {
	if m := naiveDotted.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	tail := naiveTail.FindString(s)
	if wordAt(s, len(tail)) != "" {
		return ""
	}
	return tail
}

// naiveRole returns the role of a word, or of the word without the version at its end.
func naiveRole(word string) role {
	word = strings.ToLower(word)
	if r, ok := vocabulary[word]; ok {
		return r
	}
	for i := range word {
		if i > 0 && (word[i] == '-' || word[i] == '_') && naiveVersion(word[i:]) == word[i:] {
			return vocabulary[word[:i]]
		}
	}
	if m := naiveGlued.FindStringSubmatch(word); m != nil {
		return vocabulary[m[1]] & (roleMozilla | roleEngine | roleBrowser | rolePlatform | roleAndroid)
	}
	return 0
}

func equalFoldASCII(a, b string) bool {
	return slices.EqualFunc([]byte(a), []byte(b), func(x, y byte) bool {
		return x == y || x|0x20 == y|0x20 && 'a' <= x|0x20 && x|0x20 <= 'z'
	})
}

// naiveInHost reports whether ua[start:end] comes after a dot or an @, before an @, or before labels of which the last is a top-level domain.
func naiveInHost(ua string, start, end int) bool {
	if start >= 2 && (ua[start-1] == '.' || ua[start-1] == '@') && wordAt(ua, start-2) != "" || strings.HasPrefix(ua[end:], "@") {
		return true
	}
	last := ""
	for range maxLabels {
		if !strings.HasPrefix(ua[end:], ".") || wordAt(ua, end+1) == "" {
			break
		}
		last = wordAt(ua, end+1)
		end += 1 + len(last)
	}
	hash, _ := firstWord(last)
	return last != "" && topLevel.find(hash) != nil
}

// compareTokens compares the scan with the naive search.
func compareTokens(t *testing.T, m *Matcher, ua string) {
	t.Helper()
	ua = cut(ua)
	var e evidence
	var id Identity
	m.scan(ua, &e, &id)
	var got []string
	for _, a := range id.Agents() {
		got = append(got, a.Token)
	}
	var want []string
	var ids Identity
	for _, n := range naiveTokens(m, ua) {
		a := Agent{Token: n.name, Start: n.start, End: n.end}
		if a.Crawler = m.registry.byUA[canonical.Lower(n.name)]; a.Crawler == nil {
			a.Class = Named
		}
		ids.add(a)
	}
	for _, a := range ids.Agents() {
		want = append(want, a.Token)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q: the scan finds %q, the naive search %q", ua, got, want)
	}
	for i, a := range id.Agents() {
		if b := ids.At(i); a.Start != b.Start || a.End != b.End {
			t.Errorf("%q: the scan finds %s at %d-%d, the naive search at %d-%d", ua, a.Token, a.Start, a.End, b.Start, b.End)
		}
	}
}

var naiveUAs = []string{
	"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
	"Googlebot-Image/1.0 Googlebot bingbot AhrefsBot.Feeds v0.1; http://ahrefs.com/",
	"Mozilla/5.0+(compatible;+Sogou+web+spider/4.0)",
	"TelegramBot (like TwitterBot) treat like Googlebot, bingbot",
	"Acme/1.0 (googlebot@example.com; http://bingbot.example/GPTBot GPTBot)",
	"Mozilla/5.0 (Linux; Android 8.0; Pixel 2 Build/OPD3; Storebot-Google/1.0) AppleWebKit/537.36",
	"Mozilla/5.0 (Linux; Android 10; Neon Acme Wget Gulper Web Bot) AppleWebKit/537.36 (KHTML, like Gecko) Wget",
	"archive.org_bot Mail.RU_Bot/2.0 Y!J-ASR/1.0 search.marginalia.nu Validator.nu/LV http://validator.w3.org",
	"gulper web bot gulper web bots ACME acme_ -acme acme.com acme@x.de +https://sitebulb.com https://sitebulb.community",
	"Facebot facebookexternalhit/1.1 Facebot Twitterbot/1.0",
	"(((Googlebot))) [bingbot] {GPTBot} \"ClaudeBot\" 'CCBot'",
	"Googlebot-2.1 bingbot_v2 GPTBot-2x Sogou web spider-4.0 Acme-1.7 Wget_4-4-2 bingbot-1- Gulper Web Bot-2 MSIE6 Android9 (Android-4; Acme Wget) like-2 Wget",
	"GoogleBot0.00 trendictionbot0.5.0 GPTBots1.0 GPTBot2 Gulper Web Bot1.2 Wget1.21.4 k61.2",
	"", " ", "/", "a.b.c.d.e.f.g.h.i.j.k.com", "\xff\xfeGooglebot\xff", "https://", "http:/Googlebot", "https:Googlebot",
}

func naiveMatchers() []*Matcher {
	r := Builtin()
	return []*Matcher{r.Matcher(nil), r.Matcher([]string{"Acme", "Gulper Web Bot", "Gulper", "Googlebot-Acme", "http"})}
}

func TestScanAndNaiveSearchFindTheSameTokens(t *testing.T) {
	ms := naiveMatchers()
	for _, ua := range naiveUAs {
		for _, m := range ms {
			compareTokens(t, m, ua)
		}
	}
	for c := range Builtin().All() {
		if c.Class == App {
			continue // its token adds no agent
		}
		for _, token := range c.Tokens() {
			compareTokens(t, ms[1], "Mozilla/5.0 (compatible; "+token+"/1.0; +http://example.com/"+token+") "+strings.ToUpper(token)+" x"+token)
		}
	}
}

// FuzzIdentify checks that Identify does not panic, that the scan and the naive search find the same tokens, that the octets of the evidence
// and the product token are in the User-Agent, and that a cached result equals the matcher's.
func FuzzIdentify(f *testing.F) {
	for _, ua := range naiveUAs {
		f.Add(ua)
	}
	ms := naiveMatchers()
	cache := NewCache(64)
	f.Fuzz(func(t *testing.T, ua string) {
		for _, m := range ms {
			compareTokens(t, m, ua)
			var id Identity
			m.Identify(ua, &id)
			for _, a := range id.Agents() {
				switch {
				case a.Start < 0 || a.End < a.Start || a.End > min(len(ua), MaxUserAgent):
					t.Errorf("%q: the evidence is octets %d to %d, outside of what is read", ua, a.Start, a.End)
				case a.Class == Person || a.Reason == NoReason:
					t.Errorf("%q: an agent has class %v and reason %q", ua, a.Class, a.Reason)
				case a.Token == "" && a.Reason != NoUserAgent:
					t.Errorf("%q: an agent with reason %q has no token", ua, a.Reason)
				case a.Class == SelfDeclared && !strings.Contains(ua, a.Token):
					t.Errorf("%q does not contain the product token %q", ua, a.Token)
				}
			}
			var cached, again Identity
			cache.Identify(m, ua, &cached)
			cache.Identify(m, ua, &again)
			if !slices.Equal(cached.Agents(), again.Agents()) {
				t.Errorf("%q: the cache stores %v and returns %v", ua, cached.Agents(), again.Agents())
			}
			if !slices.Equal(id.Agents(), cached.Agents()) {
				t.Errorf("%q: the matcher finds %v, the cache %v", ua, id.Agents(), cached.Agents())
			}
		}
	})
}
