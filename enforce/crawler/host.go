package crawler

import "strings"

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

var endsURL = func() (t [256]bool) {
	for _, c := range " \t);,\"'<>[]{}|" {
		t[c] = true
	}
	return t
}()

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
		if after, mail := labels(ua, stop+1+n); after > stop+1+n && (mail || letters(ua[after-1:after])) {
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
	r := parts(ua[start:end])
	e.roles |= r & roleMedia
	if r&(roleTask|roleCrawlerWord) != 0 && !e.task.ok() {
		e.task = span{start, stop} // AcmeMonitor.com
	}
	e.lastHostName = span{start, stop}
	e.hostBeforeEngine = e.hostBeforeEngine || e.depth == 0 && e.comments > 0 && !e.has(roleEngine|roleBrowser)
	if hash, n := firstWord(ua[start:end]); n == 3 && hash == wwwHash {
		e.addContact(ua, start, stop)
	} else if !e.hostName.ok() {
		e.hostName = span{start, stop}
		if start > 0 && ua[start-1] == '+' {
			e.addContact(ua, start, stop)
		}
	}
	e.compatibleEnd = 0
	// skip the path
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
	if i := strings.IndexByte(host, '/'); i >= 0 {
		host = host[:i]
	}
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
