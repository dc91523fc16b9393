package commands_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The command fetches robots.txt from the site before it reads the log, and the server
// writes that request into the same log. Neither this audit nor the next one counts it.
func TestAuditDoesNotCountItsOwnFetch(t *testing.T) {
	log := filepath.Join(t.TempDir(), "access.log")
	write := func(lines string) {
		f, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		if _, err := f.WriteString(lines); err != nil {
			t.Error(err)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		write(fmt.Sprintf("%s 192.0.2.9 - - [07/Nov/2026:13:00:00 +0000] %q 200 5 %q %q\n", r.Host, r.Method+" "+r.RequestURI+" "+r.Proto, "-", r.UserAgent()))
		fmt.Fprint(w, "User-agent: *\nDisallow: /private/\n")
	}))
	defer server.Close()
	write(strings.Repeat(lineOfGPTBot(server.Listener.Addr().String(), "/private/"), 20))
	for fetches := int64(1); fetches <= 3; fetches++ {
		r, _ := audited(t, "", log)
		if r.Lines != 20+fetches || r.Other != fetches || r.Requests != 20 || len(r.Crawlers) != 1 || r.Addresses != 1 {
			t.Errorf("after %d fetches: %d lines, %d other, %d requests, %d crawlers, %d addresses", fetches, r.Lines, r.Other, r.Requests, len(r.Crawlers), r.Addresses)
		}
	}
}
