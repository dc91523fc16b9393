package logformat

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// cores are one request in each format, with client for %s. All have the same time, target
// and User-Agent; hosted says whether the line has the host.
var cores = []struct {
	name, line string
	hosted     bool
}{
	{"combined", `%s - - [07/Nov/2026:12:00:00 +0000] "GET /a?b=1 HTTP/1.1" 200 5 "-" "Bot/1.0"`, false},
	{"combined", `www.example.com:443 %s - - [07/Nov/2026:12:00:00 +0000] "GET /a?b=1 HTTP/1.1" 200 5 "-" "Bot/1.0"`, true},
	{"combined", `www.example.com - %s - john doe [07/Nov/2026:12:00:00 +0000] "GET /a?b=1 HTTP/1.1" 200 5 "-" "Bot/1.0"`, true},
	{"combined", `%s - - [07/Nov/2026:12:00:00 +0000] "GET /a?b=1 HTTP/1.1" 200 5 "-" "Bot/1.0" www.example.com`, true},
	{"common", `%s - - [07/Nov/2026:12:00:00 +0000] "GET /a?b=1 HTTP/1.1" 200 5`, false},
	{"caddy-json", `{"level":"info","ts":1794052800,"logger":"http.log.access","msg":"handled request","request":{"client_ip":"%s","method":"GET","host":"www.example.com","uri":"/a?b=1","headers":{"User-Agent":["Bot/1.0"]}},"size":5,"status":200}`, true},
	{"caddy-console", "2026/11/07 12:00:00.000\tINFO\thttp.log.access\thandled request\t" + `{"request": {"client_ip": "%s", "method": "GET", "host": "www.example.com", "uri": "/a?b=1", "headers": {"User-Agent": ["Bot/1.0"]}}, "size": 5, "status": 200}`, true},
	{"nginx-json", `{"time":"2026-11-07T12:00:00+00:00","remote_addr":"%s","host":"www.example.com","request":"GET /a?b=1 HTTP/1.1","status":"200","body_bytes_sent":"5","http_user_agent":"Bot/1.0"}`, true},
	{"nginx-json", `{ "time": "2026-11-07T12:00:00+00:00", "remote_addr": "%s", "host": "www.example.com", "request": "GET /a?b=1 HTTP/1.1", "status": 200, "http_user_agent": "Bot/1.0"}`, true},
}

func jsonText(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// octetsOf returns the numbers of the octets of s, as journalctl writes text with control characters.
func octetsOf(s string) string {
	numbers := make([]string, len(s))
	for i := range len(s) {
		numbers[i] = fmt.Sprint(s[i])
	}
	return "[" + strings.Join(numbers, ",") + "]"
}

// surroundings are what collectors put around a line.
var surroundings = []struct {
	name string
	wrap func(line string) string
}{
	{"nothing", func(l string) string { return l }},
	{"journalctl", func(l string) string { return "Nov 07 11:59:00 srv nginx[123]: " + l }},
	{"journalctl --no-hostname", func(l string) string { return "Nov 07 11:59:00 nginx[123]: " + l }},
	{"journalctl -o short-iso", func(l string) string { return "2026-11-07T12:59:00+0100 srv nginx[123]: " + l }},
	{"journalctl -o short-precise", func(l string) string { return "Nov  7 11:59:00.123456 srv.example.net nginx[123]: " + l }},
	{"journalctl -o short-full", func(l string) string { return "Sat 2026-11-07 11:59:00 CET srv nginx[123]: " + l }},
	{"journalctl -o short-unix", func(l string) string { return "1794052740.123456 srv nginx[123]: " + l }},
	{"journalctl -o short-monotonic", func(l string) string { return "[  123.456789] srv nginx[123]: " + l }},
	{"docker logs -t", func(l string) string { return "2026-11-07T11:59:00.123456789Z " + l }},
	{"compose", func(l string) string { return "web-1  | " + l }},
	{"compose -t", func(l string) string { return "web-1  | 2026-11-07T11:59:00.123456789Z " + l }},
	{"compose in colours", func(l string) string { return "\x1b[36mweb-1  | \x1b[0m" + l + "\x1b[0m" }},
	{"CRI", func(l string) string { return "2026-11-07T11:59:00.123456789+00:00 stdout F " + l }},
	{"kubectl --prefix", func(l string) string { return "[pod/web-7d4b9/nginx] " + l }},
	{"kubectl --prefix --timestamps", func(l string) string { return "[pod/web-7d4b9/nginx] 2026-11-07T11:59:00.123Z " + l }},
	{"RFC 3164", func(l string) string { return "<190>Nov  7 11:59:00 srv nginx: " + l }},
	{"RFC 3164 with an address", func(l string) string { return "<190>Nov  7 11:59:00 10.0.0.5 nginx: " + l }},
	{"RFC 3164 without a host", func(l string) string { return "<190>Nov  7 11:59:00 nginx: " + l }},
	{"RFC 3164 without a tag", func(l string) string { return "<190>Nov  7 11:59:00 srv.example.net " + l }},
	{"RFC 5424", func(l string) string { return "<190>1 2026-11-07T11:59:00.003Z srv nginx 123 - - " + l }},
	{"RFC 5424 without names", func(l string) string { return "<190>1 2026-11-07T11:59:00.003Z 10.0.0.5 - - - - \ufeff" + l }},
	{"RFC 5424 with data", func(l string) string {
		return `<190>1 2026-11-07T11:59:00Z srv nginx - ID47 [a@1 b="c] \"d" e="9.9.9.9 - - "][f@2 g="h"] ` + l
	}},
	{"syslog over TCP", func(l string) string { return "250 <190>1 2026-11-07T11:59:00Z srv nginx - - - " + l }},
	{"rsyslog", func(l string) string { return "2026-11-07T11:59:00.123456+01:00 srv nginx: " + l }},
	{"Heroku", func(l string) string { return "2026-11-07T11:59:00.123456+00:00 app[web.1]: " + l }},
	{"foreman", func(l string) string { return "11:59:00 web.1  | " + l }},
	{"pm2", func(l string) string { return "0|web  | " + l }},
	{"seconds since 1970", func(l string) string { return "1794052740 " + l }},
	{"an ISO time", func(l string) string { return "2026-11-07 11:59:00 " + l }},
	{"an ISO time, milliseconds, level", func(l string) string { return "2026-11-07 11:59:00,123 INFO " + l }},
	{"a time in brackets", func(l string) string { return "[2026-11-07 11:59:00] " + l }},
	{"TAI64N", func(l string) string { return "@4000000065432100123456ab " + l }},
	{"cat -n", func(l string) string { return "     17\t" + l }},
	{"logcli", func(l string) string { return `2026-11-07T11:59:00Z {app="web, x", pod="web-1"} ` + l }},
	{"Docker", func(l string) string {
		return `{"log":` + jsonText(l+"\n") + `,"stream":"stdout","time":"2026-11-07T11:59:00.1Z"}`
	}},
	{"journalctl -o json", func(l string) string {
		return `{"_HOSTNAME":"srv","__REALTIME_TIMESTAMP":"1794052740123456","PRIORITY":"6","MESSAGE":` + jsonText(l) + `,"_PID":"123"}`
	}},
	{"journalctl -o json, control characters", func(l string) string {
		return `{"MESSAGE":` + octetsOf("\x1b[0m"+l) + `,"_PID":"123"}`
	}},
	{"Docker around syslog", func(l string) string {
		return `{"log":` + jsonText("<190>Nov  7 11:59:00 srv nginx: "+l+"\n") + `,"stream":"stdout"}`
	}},
	{"compose around JSON", func(l string) string { return `web-1  | {"message":` + jsonText(l) + `}` }},
	{"blanks", func(l string) string { return l + " \t\r" }},
	{"a byte order mark", func(l string) string { return "\ufeff" + l }},
}

// clients are the forms that the client of a line has, and what it is.
var clients = []struct{ form, want string }{
	{"192.0.2.1", "192.0.2.1"},
	{"192.0.2.1:5678", "192.0.2.1"},
	{"2001:db8::1", "2001:db8::1"},
	{"[2001:db8::1]:5678", "2001:db8::1"},
	{"[2001:db8::1]", "2001:db8::1"},
	{"::ffff:192.0.2.1", "192.0.2.1"},
	{"fe80::1%eth0", "fe80::1"},
	{"192.0.2.1,10.0.0.1", "192.0.2.1"},
	{"192.0.2.1, 10.0.0.1, 10.0.0.2", "192.0.2.1"},
	{"[2001:db8::1]:5678, 10.0.0.1:80", "2001:db8::1"},
	{"-, 192.0.2.1", "192.0.2.1"},
	{"unknown, 10.0.0.1", ""},
	{"-", ""},
}

// Whatever stands around a line, and whatever form the client has, the request is that of
// the line.
func TestSurroundings(t *testing.T) {
	for _, around := range surroundings {
		for _, core := range cores {
			t.Run(around.name+"/"+core.name, func(t *testing.T) {
				for _, client := range clients {
					if client.want == "" && (strings.HasPrefix(core.line, "www") || around.name == "RFC 3164 without a tag") {
						continue // a host and no client: not to be told from a client's name
					}
					line := []byte(around.wrap(fmt.Sprintf(core.line, client.form)))
					f := Detect([][]byte{line}, nil)
					if f == nil {
						t.Fatalf("the format is not detected: %s", line)
					}
					host := ""
					if core.hosted {
						host = "www.example.com"
					}
					for range 2 { // the second time, the surrounding is known
						var e Entry
						problem := f.Parse(line, &e)
						if problem != None || e.Client != client.want || strings.TrimSuffix(e.Host, ":443") != host || e.Target != "/a?b=1" || e.At != 1794052800e9 || f.Name() != core.name {
							t.Fatalf("%v: %s, client %q, host %q, target %q, time %v: %s", problem, f.Name(), e.Client, e.Host, e.Target, e.Time(), line)
						}
					}
				}
			})
		}
	}
}

// What can be no client or no host is not taken for one.
func TestNoClient(t *testing.T) {
	const rest = ` - - [07/Nov/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "Bot/1.0"`
	for _, c := range []struct {
		line               string
		want               Problem
		client, host, user string
	}{
		{line: "unknown words 192.0.2.1", client: "192.0.2.1"},
		{line: "web-1 nginx 192.0.2.1", client: "192.0.2.1"},
		{line: "access.log:2001:db8::1", want: badClient},
		{line: "access.log:12:192.0.2.1", client: "192.0.2.1"},
		{line: "access.log:www.example.com 192.0.2.1", host: "www.example.com", client: "192.0.2.1"},
		{line: "/var/log/a.log:12:www.example.com:443 192.0.2.1", host: "www.example.com:443", client: "192.0.2.1"},
		{line: "<190>1 2026-11-07T11:59:00Z 192.0.2.1", client: "192.0.2.1"},
		{line: "2026-11-07T12:00:00Z web1 192.0.2.1", client: "192.0.2.1"},
		{line: "a=b 192.0.2.1", client: "192.0.2.1"},
		{line: "203.0.113.5 192.0.2.1", want: twoAddresses},
		{line: "300.1.2.3", want: badClient},
		{line: "2001:db8:0:0:0:0:0:1:443", want: badClient},
		{line: "203.0.113.5:443 192.0.2.1", client: "192.0.2.1", host: "203.0.113.5:443"},
		{line: "[2001:db8::5]:443 192.0.2.1", client: "192.0.2.1", host: "[2001:db8::5]:443"},
		{line: "www.example.com:443 192.0.2.1:5678", client: "192.0.2.1", host: "www.example.com:443"},
		{line: "www.example.com:443 crawl.example.net", client: "crawl.example.net", host: "www.example.com:443"},
		{line: "_ 192.0.2.1", client: "192.0.2.1", host: "_"},
		{line: "crawl.example.net", client: "crawl.example.net"},
		{line: "192.0.2.xxx", client: "192.0.2.xxx"},
		{line: "2001:db8:x::x", client: "2001:db8:x::x"},
		{line: "crawl.example.net:5678", client: "crawl.example.net"},
		{line: "e3b0c442", client: "e3b0c442"},
		{line: "unix:", client: ""},
	} {
		p := &commonLog{agents: true}
		var e Entry
		problem := p.parse([]byte(c.line+rest), &e)
		if problem != c.want || problem == None && (e.Client != c.client || e.Host != c.host) {
			t.Errorf("%s: %v, client %q, host %q; want %v, %q, %q", c.line, problem, e.Client, e.Host, c.want, c.client, c.host)
		}
	}
	// The user is the client's: what it contains is not a prefix.
	for _, user := range []string{"10.0.0.1 - -", "x: 10.0.0.1 - -", "| 10.0.0.1 - -", "a b", "2026-11-07T12:00:00Z srv x: 10.0.0.1 -"} {
		p := &commonLog{agents: true}
		var e Entry
		line := "192.0.2.1 - " + user + ` [07/Nov/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "Bot/1.0"`
		if problem := p.parse([]byte(line), &e); problem != None || e.Client != "192.0.2.1" || e.Host != "" || !e.Authorized {
			t.Errorf("user %s: %v, client %q, host %q", user, problem, e.Client, e.Host)
		}
	}
}

// A filter may have replaced the client.
func TestReplacedClient(t *testing.T) {
	for client, want := range map[string]Problem{"REDACTED": None, "[REDACTED]": None, "<masked>": None, "": None, "[": badClient, "a b": badClient, ":80": badClient, "<190>Nov": badClient} {
		var e Entry
		if got := e.setClient(client); got != want || got == None && e.Client != client {
			t.Errorf("%q: %v, client %q", client, got, e.Client)
		}
	}
}

// RFC 9112, section 3.2.2: the host of a target in absolute form goes before any other.
func TestAbsoluteForm(t *testing.T) {
	for _, c := range []struct{ request, host, target string }{
		{"GET http://www.example.com:80/a?b=1 HTTP/1.1", "www.example.com:80", "/a?b=1"},
		{"GET HTTPS://www.example.com HTTP/1.1", "www.example.com", "/"},
		{"GET http://www.example.com?a=/b HTTP/1.1", "www.example.com", "/?a=/b"},
		{"GET http://user:pass@[2001:db8::1]:8080/a HTTP/1.1", "[2001:db8::1]:8080", "/a"},
		{"GET http:///a HTTP/1.1", "", "/a"},
		{"GET /http://www.example.com/ HTTP/1.1", "", "/http://www.example.com/"},
		{"GET //www.example.com/ HTTP/1.1", "", "//www.example.com/"},
		{"CONNECT www.example.com:443 HTTP/1.1", "www.example.com:443", "www.example.com:443"},
		{"OPTIONS * HTTP/1.1", "", "*"},
	} {
		line := `192.0.2.1 - - [07/Nov/2026:12:00:00 +0000] "` + c.request + `" 200 5 "-" "Bot/1.0"`
		f := Detect([][]byte{[]byte(line)}, nil)
		var e Entry
		if problem := f.Parse([]byte(line), &e); problem != None || e.Host != c.host || e.Target != c.target {
			t.Errorf("%s: %v, host %q, target %q", c.request, problem, e.Host, e.Target)
		}
	}
}

// FuzzSurroundings puts text before a line. Then the line has its own client, or a problem. So it
// has if two collectors were around it.
func FuzzSurroundings(f *testing.F) {
	f.Add("web-1 | ", uint8(1), uint8(2), uint8(3))
	f.Add("<190>1 2026", uint8(34), uint8(20), uint8(9))
	f.Fuzz(func(t *testing.T, text string, outer, inner, form uint8) {
		client := clients[int(form)%len(clients)]
		core := cores[int(form/16)%len(cores)]
		line := fmt.Sprintf(core.line, client.form)
		if client.want == "" || strings.ContainsAny(text, "\n\x00") {
			return
		}
		wrapped := surroundings[int(outer)%len(surroundings)].wrap(surroundings[int(inner)%len(surroundings)].wrap(line))
		if format := Detect([][]byte{[]byte(wrapped)}, nil); format != nil {
			var e Entry
			if problem := format.Parse([]byte(wrapped), &e); problem == None && e.Client != client.want {
				t.Errorf("client %q, want %q: %s", e.Client, client.want, wrapped)
			}
		}
		p := &commonLog{agents: true}
		words := strings.Fields(text)
		for _, word := range words {
			if isAddress(word) || strings.HasSuffix(word, ",") || strings.Contains(word, "]") {
				return // it is a client
			}
		}
		line = fmt.Sprintf(cores[0].line, client.form)
		var e Entry
		if problem := p.parse([]byte(text+" "+line), &e); problem == None && e.Client != client.want {
			t.Errorf("client %q, want %q: %q", e.Client, client.want, text+" "+line)
		}
	})
}
