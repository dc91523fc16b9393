package crawler

import (
	"cmp"
	"slices"
	"strings"
)

// wordByte maps each octet that can be part of a word to its lower case, and every other octet to 0.
// A word consists of letters, digits, `-`, `_` and non-ASCII octets.
var wordByte = func() (t [256]byte) {
	for c := range 256 {
		switch b := byte(c); {
		case 'a' <= b && b <= 'z', '0' <= b && b <= '9', b == '-', b == '_', b >= 0x80:
			t[c] = b
		case 'A' <= b && b <= 'Z':
			t[c] = b + 'a' - 'A'
		}
	}
	return t
}()

// The hash of a word is FNV-1a with 64 bits over its lower case.
const (
	hashSeed  = 0xcbf29ce484222325
	hashPrime = 0x100000001b3
)

// firstWord returns the hash and the length of the word at the beginning of s. The length is 0 if s begins with no word.
func firstWord(s string) (hash uint64, n int) {
	hash = hashSeed
	for n < len(s) && wordByte[s[n]] != 0 {
		hash = (hash ^ uint64(wordByte[s[n]])) * hashPrime
		n++
	}
	return hash, n
}

// token is one User-Agent token: of a crawler in the registry, or of a group in a site's robots.txt.
type token struct {
	text            string   // in lower case, with a space instead of `+`
	name            string   // as the registry or the site writes it
	crawler         *Crawler // nil if only the site names it
	shared          bool     // counts only if nothing indicates a person; false if the token has a word for a crawler
	allowedInDevice bool     // counts in the name of an Android device too
	control         bool     // a robots.txt token of the registry that no client sends
	url             bool     // text is a URL without its scheme, `www.` and the slash at its end
}

// slot has all facts about one word: its role, and the tokens that begin with
// it.
type slot struct {
	hash  uint64
	role  role
	first uint32 // tokens[first : first+n], longest first
	n     uint32
}

// wordTable is a hash table of facts about words, with open addressing. At most half
// of its slots are in use.
type wordTable struct {
	slots  []slot
	mask   uint64
	tokens []token
}

// find returns the facts about the word with the given hash; nil if there are none.
func (t *wordTable) find(hash uint64) *slot {
	for i := hash ^ hash>>32; ; i++ {
		s := &t.slots[i&t.mask]
		if s.hash == hash {
			return s
		}
		if s.hash == 0 {
			return nil
		}
	}
}

// match returns the longest token of s that ua has at position i; nil if there is none.
func (t *wordTable) match(s *slot, ua string, i int) *token {
	for k := range t.tokens[s.first : s.first+s.n] {
		if tok := &t.tokens[s.first+uint32(k)]; hasToken(ua[i:], tok.text) {
			return tok
		}
	}
	return nil
}

// hasToken reports whether s begins with the token text, in any case and with `+` or a space for each space. The token must end at the end
// of a word or before a version, unless it ends with a hyphen.
func hasToken(s, text string) bool {
	n := len(text)
	if len(s) < n || len(s) > n && wordByte[s[n]] != 0 && wordByte[text[n-1]] != 0 && text[n-1] != '-' && versionTail(s[n:]) == 0 {
		return false
	}
	for i := range len(text) {
		if foldByte(s[i]) != text[i] {
			return false
		}
	}
	return true
}

// versionTail returns the length of the version at the beginning of s, where s
// follows a name in the same word: `-2`, `_2-1`, `-v2`, and the `0` of `0.5.0`,
// a version with dots that has nothing between the name and itself. The version
// must end at the end of the word. The length is 0 if there is no version.
func versionTail(s string) int {
	n := countDigits(s)
	if n > 0 && (n+1 >= len(s) || s[n] != '.' || !digit(s[n+1])) {
		return 0
	}
	for n < len(s) && (s[n] == '-' || s[n] == '_') {
		i := n + 1
		if n == 0 && i < len(s) && s[i]|0x20 == 'v' {
			i++
		}
		digits := countDigits(s[i:])
		if digits == 0 {
			return 0
		}
		n = i + digits
	}
	if n < len(s) && wordByte[s[n]] != 0 {
		return 0
	}
	return n
}

// countDigits is run for digits. A call of run takes longer, and this one is in the way of most User-Agents.
func countDigits(s string) (n int) {
	for n < len(s) && digit(s[n]) {
		n++
	}
	return n
}

// run returns the number of octets of a class at the beginning of s.
func run(s string, class func(byte) bool) (n int) {
	for n < len(s) && class(s[n]) {
		n++
	}
	return n
}

// cutVersion returns the length of a word without the version at its end (see versionTail); 0 if there is no version.
func cutVersion(word string) int {
	for n := 1; n < len(word); n++ {
		if (word[n] == '-' || word[n] == '_') && versionTail(word[n:]) > 0 {
			return n
		}
	}
	return 0
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// foldByte returns an octet of a token for comparison: in lower case, with a space instead of `+`.
func foldByte(c byte) byte {
	switch {
	case 'A' <= c && c <= 'Z':
		return c + 'a' - 'A'
	case c == '+':
		return ' '
	}
	return c
}

func foldToken(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = foldByte(c)
	}
	return string(b)
}

// bareURL returns a URL without its scheme, `www.` and the slash at its end: crawlers spell their own in several ways. Another text is
// returned as it is.
func bareURL(text string) (bare string, isURL bool) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || scheme != "http" && scheme != "https" {
		return text, false
	}
	return strings.TrimSuffix(strings.TrimPrefix(rest, "www."), "/"), true
}

// buildTable returns a table of tokens and of words with their roles.
func buildTable(tokens []token, words map[string]role) *wordTable {
	size := 2
	for size < 2*(len(tokens)+len(words)) {
		size *= 2
	}
	t := &wordTable{slots: make([]slot, size), mask: uint64(size - 1), tokens: slices.Clone(tokens)}
	slices.SortStableFunc(t.tokens, func(a, b token) int {
		ha, na := firstWord(a.text)
		hb, nb := firstWord(b.text)
		return cmp.Or(cmp.Compare(ha, hb), cmp.Compare(nb, na), cmp.Compare(len(b.text), len(a.text)))
	})
	for i, tok := range t.tokens {
		hash, _ := firstWord(tok.text)
		s := t.insert(hash)
		if s.n == 0 {
			s.first = uint32(i)
		}
		s.n++
	}
	for word, role := range words {
		hash, _ := firstWord(word)
		t.insert(hash).role |= role
	}
	return t
}

func (t *wordTable) insert(hash uint64) *slot {
	for i := hash ^ hash>>32; ; i++ {
		s := &t.slots[i&t.mask]
		if s.hash == 0 {
			s.hash = hash
		}
		if s.hash == hash {
			return s
		}
	}
}

// newTable returns the table of a registry: its tokens and the words of the vocabulary.
func newTable(rows []*Crawler) *wordTable {
	var tokens []token
	for _, c := range rows {
		for _, name := range c.UserAgents {
			text, isURL := bareURL(foldToken(name))
			tokens = append(tokens, token{text: text, name: name, crawler: c, url: isURL, allowedInDevice: c.Class == Registered ||
				c.Class == UserTriggered})
		}
		for _, text := range c.Shared {
			tokens = append(tokens, token{text: foldToken(text), name: text, crawler: c, shared: parts(text)&roleCrawlerWord == 0})
		}
		if c.ControlOnly {
			for _, text := range c.Robots {
				tokens = append(tokens, token{text: foldToken(text), name: text, control: true})
			}
		}
	}
	return buildTable(tokens, vocabulary)
}
