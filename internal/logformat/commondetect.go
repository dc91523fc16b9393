package logformat

import (
	"bytes"
	"regexp"
)

// field returns the n-th field, from 1, of fields that are separated by blanks and may
// be in quotation marks.
func field(b []byte, n int) (f string) {
	for range n {
		if b = bytes.TrimLeft(b, " "); len(b) == 0 {
			return ""
		}
		var value []byte
		value, b = quotedValue(b, ' ')
		f = view(value)
	}
	return f
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
		rest := try.after
		fit++
		if len(rest) > 1 && rest[1] == '"' {
			if _, r, ok := try.quoted(rest[2:], endsField); ok && len(r) > 1 && r[1] == '"' {
				if _, r, ok = try.quoted(r[2:], endsField); ok {
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
			if hostName.MatchString(f) {
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

// hostName matches what looks like a host name, and like nothing else that is usual in
// logs.
var hostName = regexp.MustCompile(`^(localhost|(?i:[a-z0-9.-]+\.([a-z]{2,}|xn--[a-z0-9-]*)))(:\d*)?$`)
