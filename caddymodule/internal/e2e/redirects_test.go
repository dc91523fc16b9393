package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// A redirect of robots.txt that leads to no robots.txt with rules changes nothing
// for a day, wherever it leads, and is no failure.
func TestRedirectsThatLeadToNoRules(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	targets := map[string]string{
		"another scheme that nobody serves": "https://src%d.test/static/robots.txt",
		"another port that nobody serves":   "http://src%d.test:1/static/robots.txt",
		"no site at another server":         "http://src%d.test:$OTHER/robots.txt",
		"a page of HTML":                    "http://html.test:$PORT/robots.txt",
		"404":                               "http://missing.test:$PORT/robots.txt",
		"an empty file":                     "http://empty.test:$PORT/robots.txt",
		"500":                               "http://broken.test:$PORT/robots.txt",
		"no answer":                         "http://aborts.test:$PORT/robots.txt",
		"no URL":                            "http://%%zz",
		"no Location":                       "mailto:someone@example.com",
	}
	back := newFlaky(t)
	back.answerWith(rules("/private/"))
	other := freePort(t)
	config := strings.NewReplacer("$BACK", back.URL, "$OTHER", fmt.Sprint(other)).Replace(`{
	robots {
		on_error deny
		refresh 1s
	}
}
http://*.test:$PORT {
	robots
	reverse_proxy $BACK
}
http://html.test:$PORT, http://missing.test:$PORT, http://empty.test:$PORT, http://broken.test:$PORT, http://aborts.test:$PORT {
	reverse_proxy $BACK
}
http://elsewhere.test:$OTHER {
	respond ok
}
`)
	s := startAt(t, "localhost", port, config)
	hosts := make(map[string]string)
	locations := make(map[string]string)
	for name, target := range targets {
		host := fmt.Sprintf("src%d.test", len(hosts))
		hosts[name] = host
		target = strings.NewReplacer("$PORT", fmt.Sprint(port), "$OTHER", fmt.Sprint(other)).Replace(target)
		if strings.Contains(target, "%d") {
			target = fmt.Sprintf(target, len(hosts)-1)
		}
		locations[host] = strings.ReplaceAll(target, "%%", "%")
		fresh := strings.Replace(host, "src", "new", 1)
		locations[fresh] = strings.ReplaceAll(locations[host], host, fresh)
	}
	for name, host := range hosts {
		s.wants(403, s.at(host, googlebot, "/private/x"), name+": before the redirect")
	}
	back.answerWith(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := strings.Cut(r.Host, ":")
		switch {
		case r.URL.Path != "/robots.txt":
			http.NotFound(w, r)
		case locations[host] != "":
			w.Header().Set("Location", locations[host])
			w.WriteHeader(http.StatusFound)
		case host == "html.test":
			fmt.Fprint(w, "<!doctype html><html>")
		case host == "missing.test":
			http.NotFound(w, r)
		case host == "broken.test":
			w.WriteHeader(http.StatusInternalServerError)
		case host == "aborts.test":
			panic(http.ErrAbortHandler)
		}
	})
	for name, host := range hosts {
		s.eventually(name+": the redirect is known", func() bool {
			s.at(host, googlebot, "/x")
			for _, line := range s.lines("robots.txt redirects to another host: the last good copy stays in force for 24 hours") {
				if strings.Contains(fmt.Sprint(line), host) {
					return true
				}
			}
			return false
		})
		s.wants(403, s.at(host, googlebot, "/private/x"), name+": the last good copy")
		s.wants(200, s.at(strings.Replace(host, "src", "new", 1), googlebot, "/private/x"), name+": a host that had no rules before")
	}
	if strings.Contains(string(s.log.bytes()), "robots.txt can't be fetched") {
		t.Error("it counts as a failure")
	}
}
