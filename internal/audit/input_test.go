package audit

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

func TestCompressedLogs(t *testing.T) {
	text, err := os.ReadFile("../logformat/testdata/combined.log")
	if err != nil {
		t.Fatal(err)
	}
	const copies = 2000
	text = bytes.Repeat(text, copies)
	var g, z bytes.Buffer
	gw := gzip.NewWriter(&g)
	gw.Write(text)
	gw.Close()
	zw, _ := zstd.NewWriter(&z)
	zw.Write(text)
	zw.Close()
	for name, data := range map[string][]byte{"gzip": g.Bytes(), "zstd": z.Bytes()} {
		r := mustRun(t, Options{Files: []logfile.File{memory("access.log", data)}, Sites: exampleSite(t)})
		if r.Requests != copies*14 || r.Inputs[0].Compression != name {
			t.Errorf("%s: %d requests, compression %q", name, r.Requests, r.Inputs[0].Compression)
		}
		// Of a file that was cut off, the lines before its end count.
		r = mustRun(t, Options{Files: []logfile.File{memory("cut.log", data[:len(data)*3/4])}, Sites: exampleSite(t)})
		if !warned(r, "cut_input") || r.Requests < copies*14/3 || r.Requests >= copies*14 {
			t.Errorf("%s: %d requests, warnings %v", name, r.Requests, r.Warnings)
		}
	}
}

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
