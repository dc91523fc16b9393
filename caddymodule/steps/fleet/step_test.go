package fleet

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The certificates of ca_file replace those of the system, and a changed file
// makes another connection.
func TestFleetCAFile(t *testing.T) {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	valid := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	file := filepath.Join(t.TempDir(), "ca.pem")
	ids := make(map[string]bool)
	for _, test := range []struct {
		url, file string
		text      []byte
		want      string // in the error
	}{
		{"rediss://h", "", nil, ""},
		{"rediss://h", file, valid, ""},
		{"rediss://h", file, append([]byte("\n"), valid...), ""},
		{"rediss://h", file, []byte("no certificate"), "has no PEM certificate"},
		{"rediss://h", file + "x", nil, "no such file"},
		{"redis://h", file, valid, "ca_file needs TLS"},
	} {
		if err := os.WriteFile(file, test.text, 0o600); err != nil {
			t.Fatal(err)
		}
		f := &Fleet{URL: test.url, CAFile: test.file}
		if err := f.check(); (err != nil) != strings.Contains(test.want, "TLS") {
			t.Errorf("%+v: check, which reads no file, returns %v", test, err)
		}
		f.config, f.id = config{}, ""
		err := f.Join(site)
		if test.want != "" {
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%+v: %v", test, err)
			}
			continue
		}
		if err != nil || (f.config.TLSConfig.RootCAs != nil) != (test.file != "") || ids[f.id] {
			t.Errorf("%+v: roots %v, error %v, known id %t", test, f.config.TLSConfig.RootCAs, err, ids[f.id])
		}
		ids[f.id] = true
		if err := f.Cleanup(); err != nil {
			t.Error(err)
		}
	}
}

// A brace in the prefix must not spoil the names of budgets that a cluster stores
// on one master.
func TestFleetPrefix(t *testing.T) {
	for prefix, ok := range map[string]bool{"": true, "a:": true, "{a}:": true, "a}": true, "a{": false, "{}": false, "{:": false} {
		if err := (&Fleet{URL: "redis://h", Prefix: prefix}).check(); (err == nil) != ok {
			t.Errorf("%q: %v", prefix, err)
		}
	}
}
