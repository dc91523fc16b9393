package logformat

import (
	"slices"
	"strings"
)

// What collectors put before a line, each with a blank after it and in any order:
//
//	<190>                                      priority (RFC 3164 and 5424)
//	<190>1 TIME host app proc msg [id a="b"]   header of RFC 5424
//	2026-11-07T12:00:00.5Z, 1794052800.5, …    time (docker logs -t, journalctl, ts, kubectl)
//	Nov  7 12:00:00 host nginx[12]:            header of RFC 3164, and journalctl
//	12:00:00 web.1  |                          source and bar (foreman, compose, pm2)
//	stdout F                                   stream (CRI)
//	[pod/web/nginx]                            source in brackets (kubectl --prefix)
//	{app="web"}                                labels (logcli)
//
// The text is not the client's. So the first word that is none of these begins the line,
// whatever looks like a prefix after it: a user's name may.

// maxPrefixes is the number of parts that are taken away before a line.
const maxPrefixes = 12

// withoutPrefix returns what is after all prefixes at the beginning of s.
func withoutPrefix(s string) string {
	for range maxPrefixes {
		s = withoutColours(s)
		rest := withoutPart(s)
		if len(rest) == len(s) {
			break
		}
		s = rest
	}
	return s
}

// withoutColours removes blanks and the control sequences of terminals at the beginning of s.
func withoutColours(s string) string {
	for {
		s = strings.TrimLeft(s, " \t\ufeff")
		_, rest, found := strings.Cut(s, "m")
		if !found || !strings.HasPrefix(s, "\x1b[") {
			return s
		}
		s = rest
	}
}

// withoutPart removes one prefix at the beginning of s.
func withoutPart(s string) string {
	word, after := cutWord(s)
	next, afterNext := cutWord(after)
	switch {
	case word == "":
		return s
	case isTag(word):
		return after
	case isTag(next): // the host before it
		return afterNext
	case isAddress(word):
		return s
	case isIPv4(word[strings.LastIndexByte(word, ':')+1:]): // grep: access.log:192.0.2.1
		return s[strings.LastIndexByte(word, ':')+1:]
	case s[0] == '<':
		return withoutPriority(s)
	case s[0] == '[', s[0] == '{' && !strings.HasPrefix(s, `{"`):
		return withoutGroup(s)
	case isTimeWord(word):
		if isCapital(next) { // a time zone, or a level
			return afterNext
		}
		return after
	case slices.Contains(weekdays, word) && (isTimeWord(next) || slices.Contains(months, next)):
		return after
	case slices.Contains(months, word) && isNumber(next):
		clock, rest := cutWord(afterNext)
		if isNumber(clock) { // Nov 07 2026 12:00:00
			clock, rest = cutWord(rest)
		}
		if isTimeWord(clock) {
			return withoutHost(rest)
		}
	case word == "stdout" || word == "stderr":
		if next == "F" || next == "P" {
			return afterNext
		}
	case strings.HasPrefix(after, "| "):
		return after[1:]
	case isNumber(word) && (strings.HasPrefix(next, "<") || strings.HasPrefix(s, word+"\t")): // syslog over TCP; cat -n
		return after
	}
	return s
}

// isCapital reports whether a word consists of capital letters.
func isCapital(word string) bool {
	return word != "" && strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// withoutHost removes the host that RFC 3164 has after the time. If what follows is a
// client's, there is none.
func withoutHost(s string) string {
	word, after := cutWord(s)
	next, _ := cutWord(after)
	if next == "-" || isTag(word) || strings.HasPrefix(next, "|") {
		return s
	}
	return after
}

// withoutPriority removes the priority of a syslog message; with a version after it, the
// header of RFC 5424 (section 6).
func withoutPriority(s string) string {
	priority, rest, found := strings.Cut(s[1:], ">")
	if !found || len(priority) > 3 || !isNumber(priority) {
		return s
	}
	if !strings.HasPrefix(rest, "1 ") {
		return rest
	}
	for range 6 { // version, time, host, program, process, kind of message
		_, rest = cutWord(rest)
	}
	rest, isNil := strings.CutPrefix(rest, "- ")
	for !isNil && strings.HasPrefix(rest, "[") {
		after := withoutGroup(rest)
		if len(after) == len(rest) {
			return s
		}
		rest, isNil = after, after[0] == ' '
	}
	if !isNil {
		return s
	}
	return rest
}

// withoutGroup removes a part in brackets or braces. A bracket in quotation marks is text.
func withoutGroup(s string) string {
	end := byte(']')
	if s[0] == '{' {
		end = '}'
	}
	isText := false
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"' && s[i-1] != '\\':
			isText = !isText
		case s[i] == s[0] && !isText:
			return s
		case s[i] == end && !isText && i+1 < len(s) && (s[i+1] == ' ' || s[i+1] == '['):
			return s[i+1:]
		}
	}
	return s
}

// isTag reports whether a word ends the header of a syslog message, such as nginx[12]:
func isTag(word string) bool {
	return len(word) > 1 && strings.HasSuffix(word, ":") && !strings.HasSuffix(word, "::") && word != "unix:"
}

// cutWord returns the first word of s, and what is after it and the blanks behind it.
func cutWord(s string) (word, rest string) {
	i := strings.IndexAny(s, " \t")
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimLeft(s[i:], " \t")
}

var (
	months   = []string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}
	weekdays = []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}
)

// isTimeWord reports whether a word is a date, a clock time, both, their zone (+0100), or
// seconds since 1970; also TAI64N, which is @ and hexadecimal digits.
func isTimeWord(word string) bool {
	if len(word) == 25 && strings.HasPrefix(word, "@4") {
		return strings.Trim(word[1:], "0123456789abcdef") == ""
	}
	if len(word) < len("+0100") || len(word) > 40 || isAddress(word) || !isDigit(word[0]) && word[0] != '+' && word[0] != '-' {
		return false
	}
	if strings.Trim(word, "0123456789:-/.,TZ+") != "" {
		return false
	}
	return strings.ContainsAny(word[1:], ":-/") || strings.ContainsAny(word[:1], "+-") || len(word) >= len("1794052800")
}
