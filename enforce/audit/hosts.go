package audit

import (
	"slices"
	"strings"
)

// maxMainHosts is how many hosts Hosts returns at most.
const maxMainHosts = 5

// Hosts returns the hosts that make a tenth or more of the requests at the
// beginning of the logs, as clients wrote them, most requests first. What can be
// read only once is not looked at.
func Hosts(o *Options) ([]string, error) {
	counts := newCounter(maxNames)
	requests := int64(0)
	for _, f := range o.Files {
		if f.Once {
			continue
		}
		in := &input{file: f, format: o.Format, zone: zoneOf{o.Zone}}
		err := in.open()
		for n := 0; err == nil && n < 10*sampleLines && in.next(); n++ {
			if in.problem == fine && !isOwnFetch(&in.head) {
				requests++
				*counts.of(in.head.host)++
			}
		}
		in.close()
		if err != nil {
			return nil, err
		}
	}
	var hosts []string
	for _, c := range counts.top(maxMainHosts) {
		host := strings.ToLower(c.Name)
		if c.Requests*10 >= requests && isHostPort(host) && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts, nil
}

// isHostPort reports whether s is a host with or without a port, and nothing
// that could be a part of another URL.
func isHostPort(s string) bool {
	return s != "" && s != otherName && len(s) <= 260 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-.:[]") == ""
}
