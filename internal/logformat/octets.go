package logformat

import "unsafe"

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// escaped reports whether there is an odd number of backslashes before b[i].
func escaped(b []byte, i int) bool {
	n := 0
	for i > n && b[i-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}

// number3 parses a status of three digits. It returns 0 for a hyphen, and -1 if there
// is no status.
func number3(b []byte) (int, []byte) {
	if len(b) > 0 && b[0] == '-' && (len(b) == 1 || b[1] == ' ') {
		return 0, b[1:]
	}
	i := 0
	n := digits(b, &i, 3)
	if n < 0 || i < len(b) && b[i] != ' ' {
		return -1, nil
	}
	return n, b[i:]
}

func appendUnescaped(buf, b []byte) []byte {
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c != '\\' || i+1 == len(b) {
			buf = append(buf, c)
			continue
		}
		i++
		switch control, ok := controlOctet(b[i]); {
		case ok:
			c = control
		case b[i] == 'v':
			c = '\v'
		case b[i] == 'x':
			if i+2 < len(b) {
				if h, l := hex(b[i+1]), hex(b[i+2]); h >= 0 && l >= 0 {
					c = byte(h<<4 | l)
					i += 2
					break
				}
			}
			buf = append(buf, '\\')
			c = 'x'
		default:
			c = b[i]
		}
		buf = append(buf, c)
	}
	return buf
}

// controlOctet returns the octet for the letter after a backslash: \n, \r, \t, \b or \f.
func controlOctet(letter byte) (octet byte, ok bool) {
	switch letter {
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	}
	return 0, false
}

func hex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// IsAddress reports whether s looks like an IP address.
func IsAddress(s string) bool {
	colons, dots := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
		case c == '.':
			dots++
		case c == ':':
			colons++
		case 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F':
			if colons == 0 && i > 3 {
				return false
			}
		case c == '%' && colons > 1:
			return true
		default:
			return false
		}
	}
	return colons > 1 || dots == 3 && colons == 0 && s[len(s)-1] != '.'
}

// digits parses n digits of b at *i; it returns -1 if there are other octets.
func digits(b []byte, i *int, n int) int {
	if *i+n > len(b) {
		return -1
	}
	v := 0
	for _, c := range b[*i : *i+n] {
		if c < '0' || c > '9' {
			return -1
		}
		v = v*10 + int(c-'0')
	}
	*i += n
	return v
}

// skip skips one octet if it is c, and reports whether it did.
func skip(b []byte, i *int, c byte) bool {
	if *i < len(b) && b[*i] == c {
		*i++
		return true
	}
	return false
}

// view returns b as a string that shares its memory.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
