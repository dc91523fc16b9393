package audit

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

func TestLogsThatCannotBeJudged(t *testing.T) {
	caddy := strings.Repeat(`{"level":"info","ts":1794052811.5,"logger":"http.log.access","msg":"handled request","request":{"client_ip":"192.0.2.1","method":"GET","host":"example.com","uri":"/"},"duration":1.5,"size":1,"status":200}`+"\n", 3)
	const nginx = `{"msec":1794052811.5,"remote_addr":"192.0.2.1","request":"GET / HTTP/1.1","status":200}` + "\n"
	const hyphen = `192.0.2.1 - - [07/Nov/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "-"` + "\n"
	for name, file := range map[string]logfile.File{
		"common": onDisk("common.log"), "caddy": memory("caddy", []byte(caddy)), "nginx": memory("nginx", []byte(nginx)), "hyphens": memory("hyphens", []byte(strings.Repeat(hyphen, 100))), "one line": memory("line", []byte(hyphen)),
	} {
		_, err := Run(context.Background(), Options{Files: []logfile.File{file}})
		if err == nil || !strings.Contains(err.Error(), "has no User-Agents") || !strings.Contains(err.Error(), file.Name) || !errors.Is(err, ErrNoUserAgents) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Run(context.Background(), Options{Files: []logfile.File{memory("notes.txt", []byte("Dear diary,\ntoday nothing happened.\n"))}}); !errors.Is(err, logfile.ErrFormat) {
		t.Errorf("a text: %v", err)
	}
	if r := mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(hyphen)), onDisk("combined.log")}}); r.Requests != 15 {
		t.Errorf("a short log without User-Agents beside another one: %d requests", r.Requests)
	}
	if r := mustRun(t, Options{Files: []logfile.File{memory("empty.log", nil)}}); r.Requests != 0 || r.Summary[0] == "" {
		t.Errorf("an empty log: %+v", r)
	}
}
