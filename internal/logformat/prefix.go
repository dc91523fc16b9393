package logformat

import (
	"regexp"
	"strings"
)

// Collectors put words before a line: a time, a priority, the names of a server, a program
// or a container. None of them is the client's; the client's text begins after its address,
// with the user. So the first address with ident behind it is the client, whatever is
// before it.

// clientEnd returns where the client ends in what is before the time of a line; -1 if there
// is none. Ident, which follows, is always -.
func clientEnd(s string) int {
	for end := 0; ; end++ {
		n := strings.Index(s[end:], " - ")
		if n < 0 {
			break
		}
		end += n
		if _, word := lastWord(s[:end]); isAddress(withoutFile(word, isIPv4)) {
			return end
		}
	}
	rest, _ := lastWord(s) // the client has a name, or there is none
	if rest, ident := lastWord(rest); ident == "-" {
		return len(strings.TrimRight(rest, " \t"))
	}
	return -1
}

// lastWord returns the last word of s, and what is before it.
func lastWord(s string) (before, word string) {
	s = strings.TrimRight(s, " \t")
	i := strings.LastIndexAny(s, " \t") + 1
	return s[:i], s[i:]
}

// withoutFile removes what grep writes before a word, as in access.log:192.0.2.1 and
// access.log:12:example.com:443, if the word is then one of a kind.
func withoutFile(word string, is func(string) bool) string {
	if is(word) {
		return word
	}
	for rest, hasMore := word, true; hasMore; {
		_, rest, hasMore = strings.Cut(rest, ":")
		if is(rest) {
			return rest
		}
	}
	return word
}

// isServer reports whether a word in a prefix is the name of a server or of a container, and
// not the host of a request: it has no domain, or follows the time in a header of RFC 3164.
func isServer(before, word string) bool {
	return word != "localhost" && !strings.ContainsAny(word, ".:") || syslogTime.MatchString(before)
}

var (
	syslogTime = regexp.MustCompile(`(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d+ (\d{4} )?[\d:.]+ +$`)
	// syslogHeader is that of RFC 5424, section 6: priority, version, time, host, program,
	// process, kind of message, and data.
	syslogHeader = regexp.MustCompile(`(^|\s)<\d{1,3}>1 (\S+ ){5}(-|(\[[^\s":\]]+( ([^"\]]|"([^"\\]|\\.)*")*)?\])+) `)
)

// headerEnd returns where a header of RFC 5424 ends that begins before what seems to be the
// client, which may be the server's address in it; 0 if there is none.
func headerEnd(s string, client int) int {
	if strings.Contains(s, ">1 ") {
		if at := syslogHeader.FindStringIndex(s); at != nil && at[0] < client {
			return at[1]
		}
	}
	return 0
}
