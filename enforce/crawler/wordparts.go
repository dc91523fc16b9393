package crawler

import "strings"

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
		run, start := i, i
		for i++; i < len(word) && letter(word[i]); i++ {
			if upper(word[i]) && !upper(word[i-1]) {
				r |= part(word[start:i], start == 0)
				start = i
			}
		}
		r |= part(word[start:i], start == 0)
		if start > run {
			r |= part(word[run:i], run == 0)
		}
	}
	return r
}

func letter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func upper(c byte) bool  { return 'A' <= c && c <= 'Z' }

// part returns the roles of one part of a word, by the whole part and by its end. first is whether the word begins with it.
func part(s string, first bool) role {
	var r role
	hash, _ := firstWord(s)
	if v := partTable.find(hash); v != nil {
		r |= v.role
		if !first {
			r &^= roleBrand
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
	for n := min(len(s)-1, longestSuffix); n >= 3; n-- {
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
