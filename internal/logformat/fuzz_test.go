package logformat

import (
	"strings"
	"testing"
)

const (
	combinedLine = `192.0.2.1 - - [07/Nov/2026:12:00:00 +0000] "GET /private/ HTTP/1.1" 200 5 "-" "ExampleBot/1.0 (+https://example.org)"`
)

// fuzzed parses the lines of a log in the format that is detected. A line is a request that has a method, a target or a host, or it has a
// problem. Parsing does not change the line.
func fuzzed(t *testing.T, text string) {
	var lines [][]byte
	for line := range strings.Lines(text) {
		lines = append(lines, []byte(strings.TrimSuffix(line, "\n")))
	}
	f := Detect(lines, nil)
	if f == nil {
		return
	}
	var e Entry
	for _, line := range lines {
		was := string(line)
		e.Reset()
		p := f.Parse(line, &e)
		if p == None && (e.Method == "" && e.Target == "" && e.Host == "" || e.Status < 0 || e.Status > 999 || e.Bytes < 0 || e.Timed && e.Resolution <= 0) {
			t.Errorf("%q is a request: %+v", line, e)
		}
		if string(line) != was {
			t.Errorf("%q was changed to %q", was, line)
		}
	}
	if f.Name() == "" {
		t.Error("the format has no name")
	}
}

func FuzzCommon(f *testing.F) {
	f.Add([]byte(combinedLine))
	f.Add([]byte("192.0.2.1 - [01/Nov/2026:00:00:00 +0000] \"GET / HTTP/1.1\" 200 5"))
	f.Add([]byte("example.com:443 " + combinedLine + ` 0.003 "x" example.com`))
	f.Add([]byte(strings.Replace(combinedLine, "ExampleBot", `\x22\"`, 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzed(t, string(data))
		fuzzed(t, combinedLine+"\n"+string(data))
	})
}

func FuzzCaddy(f *testing.F) {
	const line = `{"level":"info","ts":1794052811.5,"logger":"http.log.access","msg":"handled request","request":{"remote_addr":"[::1]:5","method":"GET","host":"example.com","uri":"/a","headers":{"User-Agent":["ExampleBot/1.0"]}},"duration":1.5,"size":1,"status":200}`
	f.Add([]byte(line))
	f.Add([]byte(`{"log":"{\"request\":{\"uri\":\"/\"},\"status\":200}"}`))
	f.Add([]byte("2026/11/07 12:00:00.002\tINFO\thttp.log.access\thandled request\t{\"request\": {\"uri\": \"/\"}, \"status\": 200}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzed(t, string(data))
		fuzzed(t, line+"\n"+string(data))
	})
}

func FuzzNginx(f *testing.F) {
	const line = `{"time":"2026-11-07T12:00:00+00:00","remote_addr":"192.0.2.1","request":"GET /a HTTP/1.1","status":"200","http_user_agent":"ExampleBot"}`
	f.Add([]byte(line))
	f.Add([]byte(`{"msec":1794052811.5,"uri":"/a","args":"x=1","status":200,"agent":"x\u0022"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzed(t, string(data))
		fuzzed(t, line+"\n"+string(data))
	})
}
