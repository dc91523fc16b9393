package robots

import "strings"

// ProductToken returns the product token in the value of a User-agent line. It
// removes a version (`BLEXBot/1.0`), a comment (`WebZIP (spidersoft)`) and a
// `*` at the end. RFC 9309, section 2.2.1 allows only letters, `_` and `-` in a
// token. ProductToken also accepts digits, dots and blanks, since the tokens of
// real crawlers have them (MJ12bot, archive.org_bot, Sogou web spider). It
// returns "*" for the value `*`, with or without more words after it, and ""
// for a value without a token, such as a URL.
func ProductToken(value string) string {
	value = strings.TrimSpace(value)
	if value == "*" || len(value) > 1 && value[0] == '*' && isBlank(value[1]) {
		return "*"
	}
	end := 0
	for end < len(value) && isTokenOctet(value[end]) {
		end++
	}
	if strings.HasPrefix(value[end:], "//") && strings.HasSuffix(value[:end], ":") {
		return ""
	}
	token := strings.TrimRight(value[:end], " -,;:.")
	if len(token) > maxToken {
		return ""
	}
	return token
}

// isTokenOctet reports whether a product token may contain the octet. It
// excludes octets that start a version, a comment, an address or a pattern.
func isTokenOctet(c byte) bool {
	return c >= ' ' && c != 0x7f && strings.IndexByte(`/()[]<>{}*"\,;?=$^|#+`, c) < 0
}

// leadingWord returns the first word of a product token. A word has letters,
// digits, `-`, `_` and dots.
func leadingWord(token string) string {
	end := 0
	for end < len(token) && isWordOctet(token[end]) {
		end++
	}
	return strings.TrimRight(token[:end], "-.")
}

func isWordOctet(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '-' || c == '_' || c == '.'
}
