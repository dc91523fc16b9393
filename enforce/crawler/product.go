package crawler

import (
	"cmp"
	"strings"
)

// product returns the product token of a client that is in no table: the evidence why itself, or the name to which it belongs.
func (e *evidence) product(ua string, at place, why span) span {
	switch at {
	case contactAt, plusAt:
		return e.contactProduct(ua, why)
	case firstAt:
		return span{why.start, max(why.end, bareProduct(ua))} // HTTP.jl/1.9
	case crawlerAt, taskAt, weakTaskAt:
		if hash, n := firstWord(ua[why.start:why.end]); n == why.end-why.start {
			if s := baseTable.find(hash); s != nil && s.role&(roleCrawlerWord|roleTask|roleWeakTask) != 0 {
				return cmp.Or(phraseStart(ua, why.start, why.end), why) // `Gulper Web Bot`: Gulper
			}
		}
	}
	return why
}

// contactProduct returns the product to which a contact belongs: the one after a product that the registry knows, else the one at the
// beginning of the User-Agent, else the one before the contact in its comment, else the contact itself.
func (e *evidence) contactProduct(ua string, why span) span {
	if 0 < e.ownEnd && e.ownEnd < why.start {
		return cmp.Or(productIn(ua, e.ownEnd, why.start), why)
	}
	if e.at[firstAt].ok() && e.at[firstAt].start < why.start && !e.has(roleMozilla) {
		if e.appID && e.at[firstAt].start == 0 {
			end, _ := labels(ua, e.at[firstAt].end)
			return span{0, end} // com.example.reader
		}
		return e.at[firstAt]
	}
	end := why.start
	for end > 0 && (separator[ua[end-1]] || ua[end-1] == ' ') {
		end--
	}
	return cmp.Or(phraseStart(ua, end, end), why)
}

// phraseStart returns the first word of the phrase that ends at end and has no separator before the position at; an empty span if there is
// none. Browsers' words do not belong to a phrase.
func phraseStart(ua string, at, end int) span {
	for at > 0 && !separator[ua[at-1]] {
		at--
	}
	return productIn(ua, at, end)
}

// productIn returns the first word of ua[start:end] that begins with a letter and that browsers do not send; an empty span if there is
// none.
func productIn(ua string, start, end int) span {
	for i := start; i < end; {
		if wordByte[ua[i]] == 0 {
			i++
			continue
		}
		hash, n := firstWord(ua[i:end])
		if s := baseTable.find(hash); letter(ua[i]) && (s == nil || s.role&sentByBrowsers == 0) {
			return span{i, i + n}
		}
		i += n
	}
	return span{}
}

// separator has the octets that end a phrase in a User-Agent.
var separator = octets("();,/[]{}<>\"'+")

func octets(list string) (t [256]bool) {
	for _, c := range []byte(list) {
		t[c] = true
	}
	return t
}

// baseTable has the vocabulary and no tokens.
var baseTable = buildTable(nil, vocabulary)

// platformForm reports whether a User-Agent has the form that an operating system or an HTTP library builds from an app's name. Whatever
// that name is, a person uses the app (Chatbot/42 CFNetwork/1485 Darwin/23.1.0). The form must be complete: a crawler that only adds a word
// of it, or that gives a contact, does not count as an app.
func platformForm(ua string) bool {
	if strings.Contains(ua, "://") || strings.Contains(ua, "@") || strings.Contains(ua, "www.") || strings.Contains(ua, "compatible") {
		return false
	}
	return foundationForm(ua) || commentForm(ua) || dalvikForm(ua) || okhttpForm(ua)
}

// foundationForm matches `Name/1 CFNetwork/1485 Darwin/23.1.0`, the form of NSURLSession. On a Mac, the model of the computer follows.
func foundationForm(ua string) bool {
	name, rest, library := cutProduct(ua, " CFNetwork/")
	_, _, system := cutProduct(rest, " Darwin/")
	app := strings.TrimSuffix(strings.TrimSuffix(name, " (unknown version)"), " (Unknown Version)")
	return library && system && name != "" && !strings.ContainsAny(app, "();")
}

// commentForm matches `Name/1.0 (iPhone; iOS 17.0; Scale/3.00)` (AFNetworking), `Name/1.0 (org.example.Name; build:1; iOS 17.0.0)
// Alamofire/5.9` and `org.example.name/1.0 (Linux; U; Android 14; en_US; Pixel 8; Build/AP1A; Cronet/124.0)`. The comment right after the
// app's name states the system on which the app runs. The order of the fields is that of the library.
func commentForm(ua string) bool {
	open := strings.IndexByte(ua, '(')
	if open < 2 || ua[open-1] != ' ' || !strings.ContainsAny(ua[:open], "/.") {
		return false
	}
	end := strings.IndexByte(ua[open:], ')')
	if end < 0 {
		return false
	}
	comment, rest := ua[open+1:open+end], strings.TrimSpace(ua[open+end+1:])
	first, fields, _ := strings.Cut(comment, "; ")
	second, _, _ := strings.Cut(fields, "; ")
	switch first {
	case "iPhone", "iPad", "iPod touch", "Apple TV", "Apple Watch":
		system, version, _ := strings.Cut(second, " ")
		if system == "iPhone" {
			version = strings.TrimPrefix(version, "OS ")
		}
		return (system == "iOS" || system == "iPadOS" || system == "iPhone" || system == "tvOS" || system == "watchOS") &&
			startsWithDigit(version)
	case "Linux":
		return second == "U" && strings.Contains(fields, "; Android ") && strings.Contains(fields, "Cronet/") && rest == ""
	}
	library, version, _ := strings.Cut(rest, "/")
	return library == "Alamofire" && startsWithDigit(version) && strings.Contains(fields, "build:")
}

// dalvikForm matches `Dalvik/2.1.0 (Linux; U; Android 13; Pixel 7 Build/TQ3A)`, alone or with an app's name.
func dalvikForm(ua string) bool {
	_, rest, program := cutProduct(ua, "Dalvik/")
	_, _, system := cutProduct(rest, " (Linux; U; Android ")
	return program && system
}

// okhttpForm matches an app's product, an optional comment, and okhttp's product at the end: `Name/1.0 (Android 13) okhttp/4.12.0`.
func okhttpForm(ua string) bool {
	name, version, library := cutProduct(ua, " okhttp/")
	product, _, app := cutProduct(name, "/")
	return library && !strings.ContainsAny(version, " (") && app && product != "" && !strings.ContainsAny(product, "();")
}

// cutProduct cuts s at the first name. It returns whether a version follows the name.
func cutProduct(s, name string) (before, after string, ok bool) {
	before, after, ok = strings.Cut(s, name)
	return before, after, ok && startsWithDigit(after)
}

func startsWithDigit(s string) bool { return s != "" && digit(s[0]) }

// urlEnd returns the end of the URL whose scheme ends at position i. It returns i if `:/` and another octet do not follow.
func urlEnd(ua string, i int) int {
	if i+2 >= len(ua) || ua[i] != ':' || ua[i+1] != '/' {
		return i
	}
	for i < len(ua) && !endsURL[ua[i]] {
		i++
	}
	return i
}

var endsURL = octets(" \t);,\"'<>[]{}|")

// inHost reports whether ua[start:end] is a part of a host name or of an e-mail address.
func inHost(ua string, start, end int) bool {
	if start >= 2 && (ua[start-1] == '@' || ua[start-1] == '.') && wordByte[ua[start-2]] != 0 {
		return true
	}
	if end < len(ua) && ua[end] == '@' {
		return true
	}
	stop, hostLike := labels(ua, end)
	return hostLike && stop > end
}

// maxLabels bounds the labels of a host name that are read.
const maxLabels = 8

// labels reads labels (`.label.label`) from position i, which is the end of a word. It returns their end, and whether the last label is a
// top-level domain.
func labels(ua string, i int) (end int, host bool) {
	for range maxLabels {
		if i+1 >= len(ua) || ua[i] != '.' || wordByte[ua[i+1]] == 0 {
			break
		}
		hash, n := firstWord(ua[i+1:])
		host = topLevel.find(hash) != nil
		i += 1 + n
	}
	return i, host
}

// readHost reads a host name, an e-mail address or a name in reverse-domain form (com.example.app) that begins with the word ua[start:end].
// It returns the position after it, or end if there is none.
func (e *evidence) readHost(ua string, start, end int) int {
	if end+1 >= len(ua) || ua[end] != '.' && ua[end] != '@' {
		return end
	}
	stop, host := labels(ua, end)
	if stop+1 < len(ua) && ua[stop] == '@' && wordByte[ua[stop+1]] != 0 {
		_, n := firstWord(ua[stop+1:])
		if after, _ := labels(ua, stop+1+n); after > stop+1+n && isTopLevel(ua[strings.LastIndexByte(ua[:after], '.')+1:after]) {
			e.addContact(ua, start, after)
			return after
		}
		return end
	}
	if hash, _ := firstWord(ua[start:end]); stop > end && topLevel.find(hash) != nil && letters(ua[stop-1:stop]) {
		e.appID = e.appID || !host || hash == comHash
		return stop
	}
	if !host {
		return end
	}
	if e.device > 0 || e.like || strings.HasSuffix(ua[:start], "via ") { // people use this proxy: (via translate.example.com)
		return stop
	}
	hash, n := firstWord(ua[start:end])
	if codeHost.find(hash) != nil && strings.HasPrefix(ua[stop:], "/") && !strings.HasSuffix(ua[:start], "+") {
		return skipPath(ua, stop) // the name of a module of source code
	}
	r := parts(ua[start:end])
	e.roles |= r & roleMedia
	if r&(roleTask|roleCrawlerWord) != 0 && !e.at[taskAt].ok() {
		e.set(taskAt, start, stop) // AcmeMonitor.com
	}
	e.set(lastHostAt, start, stop)
	e.hostBeforeEngine = e.hostBeforeEngine || e.depth == 0 && e.comments > 0 && !e.has(roleEngine|roleBrowser)
	if n == 3 && hash == wwwHash {
		e.addContact(ua, start, stop)
	} else if !e.at[hostAt].ok() {
		e.set(hostAt, start, stop)
		if start > 0 && ua[start-1] == '+' {
			e.addContact(ua, start, stop)
		}
	}
	e.compatibleEnd = 0
	return skipPath(ua, stop)
}

// isTopLevel reports whether the last label of a mail address can be a top-level domain: at least two letters that are not the suffix of a
// file's name (build@main.js), or the form of a domain in another script.
func isTopLevel(label string) bool {
	hash, _ := firstWord(label)
	return hasPrefixFold(label, "xn--") || len(label) > 1 && letters(label) && fileSuffix.find(hash) == nil
}

// skipPath returns the end of the path that begins at position stop, unless it is a version.
func skipPath(ua string, stop int) int {
	if stop < len(ua) && ua[stop] == '/' && stop+1 < len(ua) && !('0' <= ua[stop+1] && ua[stop+1] <= '9') {
		for stop < len(ua) && !endsURL[ua[stop]] {
			stop++
		}
	}
	return stop
}

// radio reports whether a URL's host ends in .fm. Such hosts usually belong to broadcasts, podcasts and their players.
func radio(url string) bool {
	_, host, ok := strings.Cut(url, "://")
	host, _, _ = strings.Cut(host, "/")
	return ok && strings.HasSuffix(host, ".fm")
}

var (
	wwwHash, _ = firstWord("www")
	comHash, _ = firstWord("com")
)

func letters(s string) bool {
	for i := range len(s) {
		if c := wordByte[s[i]]; c < 'a' || c > 'z' {
			return false
		}
	}
	return s != ""
}
