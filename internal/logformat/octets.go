package logformat

import (
	"bytes"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

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
	if len(b) < 3 || len(b) > 3 && b[3] != ' ' {
		return -1, nil
	}
	return int(digits(b[:3])), b[3:]
}

// unescaped decodes the escapes that JSON (\" \\ \n \uHHHH), Apache (\" \\ \n \xHH) and
// nginx (\xHH) write. It returns b itself if there are none, else memory of buf, to which
// it appends.
func unescaped(b []byte, buf *[]byte) []byte {
	if bytes.IndexByte(b, '\\') < 0 {
		return b
	}
	from := len(*buf)
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			*buf = append(*buf, b[i])
			continue
		}
		i++
		if control := strings.IndexByte("nrtbfv", b[i]); control >= 0 {
			*buf = append(*buf, "\n\r\t\b\f\v"[control])
		} else if c, ok := hex(b[i:], 'x', 2); ok {
			*buf = append(*buf, byte(c))
			i += 2
		} else if unit, ok := hex(b[i:], 'u', 4); ok {
			i += 4
			if rest := b[i+1:]; len(rest) > 0 && rest[0] == '\\' {
				low, _ := hex(rest[1:], 'u', 4)
				if pair := utf16.DecodeRune(unit, low); pair != utf8.RuneError {
					unit = pair
					i += 6
				}
			}
			*buf = utf8.AppendRune(*buf, unit)
		} else if b[i] == 'x' || b[i] == 'u' {
			*buf = append(*buf, '\\', b[i])
		} else {
			*buf = append(*buf, b[i])
		}
	}
	return (*buf)[from:]
}

// hex parses a letter and n hexadecimal digits at the beginning of b.
func hex(b []byte, letter byte, n int) (rune, bool) {
	if len(b) <= n || b[0] != letter {
		return 0, false
	}
	v, err := strconv.ParseUint(view(b[1:n+1]), 16, 32)
	return rune(v), err == nil
}

// isAddress reports whether s is an IP address.
func isAddress(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil
}

// digits parses a decimal number; it returns -1 if there are other octets.
func digits(b []byte) int64 {
	n, err := strconv.ParseUint(view(b), 10, 63)
	if err != nil {
		return -1
	}
	return int64(n)
}

// leadingNumber parses the decimal number at the beginning of b, 0 if there is none,
// and returns what is after it. A very large number is cut short.
func leadingNumber(b []byte) (n int64, rest []byte) {
	for len(b) > 0 && isDigit(b[0]) {
		if n < 1<<56 {
			n = n*10 + int64(b[0]-'0')
		}
		b = b[1:]
	}
	return n, b
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
