package crawler

import (
	_ "embed"
	"slices"
	"strings"
)

// role is a set of bits: what a word indicates about the client that sends it,
// independently of the words next to it.
type role uint64

const (
	roleMozilla     role = 1 << iota // `mozilla`, with which browsers' User-Agents begin
	roleEngine                       // a layout engine
	roleBrowser                      // a browser's product token
	rolePlatform                     // an operating system or a device that a person uses
	roleUnix                         // an operating system that both people and servers use
	roleApp                          // a runtime of apps, or the name of an app or a player
	roleBrand                        // a maker of devices
	roleNoise                        // a word of browsers' and apps' User-Agents that indicates nothing
	roleLike                         // `like`: the next word is a comparison
	roleCompatible                   // `compatible`: the client's name follows
	roleScheme                       // the scheme of a URL, or `www`
	roleAndroid                      // the name of an Android device follows
	roleCrawlerWord                  // a word for a crawler: bot, spider
	roleTask                         // a word for what crawlers do, which browsers don't send
	roleWeakTask                     // a word for what both crawlers and other programs do
	roleLikelyTask                   // with roleWeakTask: the program is more likely a crawler than an app
	roleLibrary                      // an HTTP client, or a word for one
	roleMedia                        // music, broadcasts, podcasts: usually an app
	roleAt                           // `at` of an address like `ops at acme dot com`
	roleDot                          // `dot` of such an address
	roleKHTML                        // `khtml`, with which a comment of today's browsers begins
	roleMobile                       // a telephone, a tablet, a television, or a program that embeds a browser: the User-Agent can name an app
	roleIE                           // Internet Explorer; other programs added their names to its User-Agent
	roleGecko                        // `gecko`, with which the KHTML comment compares
	roleMain                         // a browser's name that other programs send too: an address after it is not the browser's home page
	roleInstalled                    // a word that Windows adds to Internet Explorer's User-Agent on a person's computer
	roleForm                         // a word of a platform's form (see platformForm)
	roleChrome                       // Chrome's own product
	roleSafari                       // Safari's own product
	roleVersion                      // Safari's version
	roleWebView                      // an Android app that shows pages
	roleAnyBrowser                   // `browser`
	roleHook                         // with roleTask: the delivery of events that a site asked for
	roleCrawlerPart                  // a word for a crawler that is not at the end of a name
)

// roleNames are the names of the roles in words.txt, in the order of their bits.
var roleNames = strings.Fields(`mozilla engine browser platform unix app brand noise like compatible scheme android crawler task weaktask likelytask library media
	at dot khtml mobile ie gecko main installed form chrome safari version webview anybrowser hook`)

//go:embed words.txt
var wordsFile string

// readWords returns the words of the lines of words.txt that begin with a kind, and their roles. It panics if a role is unknown.
func readWords(kind string) map[string]role {
	words := map[string]role{}
	for line := range strings.Lines(wordsFile) {
		head, list, _ := strings.Cut(line, ":")
		list, _, _ = strings.Cut(list, "#") // a reason
		names := strings.Fields(head)
		first := ""
		if len(names) > 0 && slices.Contains([]string{"part", "end", "domain", "codehost", "file", "#"}, names[0]) {
			first, names = names[0], names[1:]
		}
		if first != kind {
			continue
		}
		var r role
		for _, name := range names {
			r |= 1 << slices.Index(roleNames, name)
		}
		for word := range strings.FieldsSeq(list) {
			words[word] |= r
		}
	}
	return words
}

// vocabulary maps each word to its roles.
var vocabulary = readWords("")

// sentByBrowsers are the roles of words that browsers, apps and devices send.
const sentByBrowsers = roleMozilla | roleEngine | roleBrowser | roleAnyBrowser | rolePlatform | roleUnix | roleApp | roleBrand | roleNoise | roleLike |
	roleCompatible | roleAndroid | roleScheme

// BrowserWord reports whether a token would match people's User-Agents: one of
// people.txt has it, or browsers, apps or devices send all of its words. Words
// that crawlers send too (`search`) and numbers are among them. It is false for a
// token without a word or number.
func BrowserWord(token string) bool {
	text := foldToken(token)
	_, n := firstWord(text) // `*` has none, and should not make the index
	return n > 0 && peopleIndex().send(text) || onlyBrowserWords(text)
}

// onlyBrowserWords reports whether all words of a token are in the vocabulary of
// browsers, apps and devices.
func onlyBrowserWords(token string) bool {
	words := 0
	for i := 0; i < len(token); {
		hash, n := firstWord(token[i:])
		if n == 0 {
			i++
			continue
		}
		number := strings.Trim(token[i:i+n], "0123456789") == ""
		if s := baseTable.find(hash); !number && (s == nil || s.role&(sentByBrowsers|roleWeakTask|roleMedia) == 0) {
			return false
		}
		i += n
		words++
	}
	return words > 0
}

// codeHost holds the first labels of hosts of source code: what follows is the name of a program's module.
var codeHost = buildTable(nil, readWords("codehost"))

// fileSuffix holds endings of file names that are no top-level domains.
var fileSuffix = buildTable(nil, readWords("file"))

// topLevel holds the top-level domains that distinguish a host name without a scheme from other words with dots.
var topLevel = buildTable(nil, readWords("domain"))

// parts returns the roles of the parts of a word: YottaaMonitor has a word for
// what crawlers do, GenomeCrawlerd one for a crawler, SonyEricssonT610 one for a
// maker of devices. A part is a run of letters; an upper-case letter after a
// lower-case one begins a new part.
func parts(word string) role {
	var r role
	for i := 0; i < len(word); {
		if !letter(word[i]) {
			i++
			continue
		}
		run, start, before := i, i, r
		for i++; i < len(word) && letter(word[i]); i++ {
			if upper(word[i]) && !upper(word[i-1]) {
				r |= part(word[start:i], start == 0, false)
				start = i
			}
		}
		r |= part(word[start:i], start == 0, true)
		if start > run {
			hash, _ := firstWord(word[run:i])
			if v := partTable.find(hash); v != nil && v.role == 0 {
				r = before // SpiderOak
			}
			r |= part(word[run:i], run == 0, true)
		}
	}
	return r
}

func letter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func upper(c byte) bool  { return 'A' <= c && c <= 'Z' }

// part returns the roles of one part of a word, by the whole part and by its end. first is whether the word begins with it; last whether no
// other part follows: the end of Certbot counts for nothing in CertbotClient.
func part(s string, first, last bool) role {
	var r role
	hash, _ := firstWord(s)
	if v := partTable.find(hash); v != nil {
		if r = v.role; r == 0 {
			return 0
		}
		if !first {
			r &^= roleBrand
		}
		if !last && r&roleCrawlerWord != 0 {
			r = r&^roleCrawlerWord | roleCrawlerPart // BotFramework
		}
	}
	if r&roleBrand != 0 {
		return r
	}
	for n := 4; first && n < min(len(s), longestSuffix); n++ {
		hash, _ := firstWord(s[:n])
		if v := partTable.find(hash); v != nil && v.role&roleBrand != 0 {
			return roleBrand // NOKIAN92
		}
	}
	if hasPrefixFold(s, "crawl") || hasPrefixFold(s, "spider") {
		return r | roleCrawlerWord // GenomeCrawlerd
	}
	for n := min(len(s)-1, longestSuffix); last && n >= 3; n-- {
		hash, _ := firstWord(s[len(s)-n:])
		if v := suffixTable.find(hash); v != nil {
			return r | v.role
		}
	}
	return r
}

// hasPrefixFold reports whether s begins with prefix, in any case.
func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// longestSuffix bounds the octets at the end of a part that are looked up.
const longestSuffix = 12

// partTable has the words that count as a part of a longer word.
var partTable = func() *wordTable {
	m := readWords("part")
	for w, r := range vocabulary {
		if r&(roleCrawlerWord|roleTask|roleWeakTask|roleLibrary|roleBrand) != 0 {
			m[w] |= r & (roleCrawlerWord | roleTask | roleWeakTask | roleLikelyTask | roleLibrary | roleBrand | roleHook)
		}
		if r&(roleBrowser|roleAnyBrowser|roleApp) != 0 && len(w) >= 6 {
			m[w] |= roleMedia
		}
	}
	return buildTable(nil, m)
}()

// suffixTable has the words that count at the end of a part.
var suffixTable = func() *wordTable {
	m := readWords("end")
	for w, r := range vocabulary {
		if len(w) >= 3 && r&(roleCrawlerWord|roleTask|roleWeakTask) != 0 && len(w) <= longestSuffix {
			m[w] |= r & (roleCrawlerWord | roleTask | roleWeakTask | roleLikelyTask | roleHook)
		}
	}
	return buildTable(nil, m)
}()
