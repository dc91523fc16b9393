package logformat

import (
	"bytes"
	"strings"
)

// field returns the n-th field, from 1, of fields that are separated by blanks and may
// be in quotation marks.
func field(b []byte, n int) string {
	for i := 1; ; i++ {
		for len(b) > 0 && b[0] == ' ' {
			b = b[1:]
		}
		if len(b) == 0 {
			return ""
		}
		var f []byte
		if b[0] == '"' {
			end := bytes.IndexByte(b[1:], '"')
			if end < 0 {
				return ""
			}
			f, b = b[1:end+1], b[end+2:]
		} else {
			end := bytes.IndexByte(b, ' ')
			if end < 0 {
				end = len(b)
			}
			f, b = b[:end], b[end:]
		}
		if i == n {
			return view(f)
		}
	}
}

// maxMore is the number of fields after the User-Agent that are checked for the host.
const maxMore = 16

// newCommonLog detects which variant of the format the lines of a sample have. fit is
// the number of lines that have the format.
func newCommonLog(sample [][]byte, times timeParser) (p *commonLog, fit int) {
	withAgent, plain := 0, 0
	more := make([]int, maxMore+1)
	hosts := make([]int, maxMore+1)
	for _, line := range sample {
		try := commonLog{times: times}
		var e Entry
		if pr := try.parse(line, &e); pr != None && pr != NoRequest {
			continue
		}
		end := bytes.Index(line, []byte(`] "`))
		_, rest, _ := try.request(line[end+3:])
		_, rest = number3(rest)
		rest = try.octets(rest, &e)
		fit++
		if len(rest) > 1 && rest[1] == '"' {
			if _, r, ok := try.quoted(rest[2:]); ok && len(r) > 1 && r[1] == '"' {
				if _, r, ok = try.quoted(r[2:]); ok {
					withAgent++
					rest = r
				}
			}
		} else {
			plain++
		}
		n := 0
		for ; n < maxMore; n++ {
			f := field(rest, n+1)
			if f == "" {
				break
			}
			if looksLikeHost(f) {
				hosts[n+1]++
			}
		}
		more[n]++
	}
	p = &commonLog{times: times, agents: withAgent > plain}
	for n, count := range more {
		if count > more[p.more] {
			p.more = n
		}
	}
	for n := 1; n <= maxMore && p.hostAt == 0; n++ {
		if hosts[n] > 0 && hosts[n]*10 >= fit*9 {
			p.hostAt = n
		}
	}
	return p, fit
}

// looksLikeHost reports whether s looks like a host name, and like nothing else that
// is usual in logs.
func looksLikeHost(s string) bool {
	if name, port, ok := strings.Cut(s, ":"); ok {
		if strings.Trim(port, "0123456789") != "" {
			return false
		}
		s = name
	}
	if s == "localhost" {
		return true
	}
	i := strings.LastIndexByte(s, '.')
	if i < 1 || len(s)-i < 3 || len(s) > 253 {
		return false
	}
	if strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" {
		return false
	}
	return strings.Trim(strings.ToLower(s[i+1:]), "abcdefghijklmnopqrstuvwxyz") == "" || strings.HasPrefix(strings.ToLower(s[i+1:]), "xn--")
}
