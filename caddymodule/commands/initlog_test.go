package commands_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/test/commandline"
)

// logOf is a log of four days in which a crawler costs most, with people and a client of an API.
func logOf(host, crawler, path string) string {
	var b strings.Builder
	for i := range 800 {
		for n, c := range [...][2]string{
			{path + fmt.Sprint(i), crawler}, {"/about", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"},
			{"/api/" + fmt.Sprint(i), "python-requests/2.32"},
		} {
			if n == 0 || i%10 == 0 {
				fmt.Fprintf(&b, `{"ts":%d,"logger":"http.log.access","request":{"client_ip":"198.51.100.%d","method":"GET","host":%q,"uri":%q,"headers":{"User-Agent":[%q]}},"duration":1,"size":5000,"status":200}`+"\n",
					1794052800+i*500, i%60, host, c[0], c[1])
			}
		}
	}
	return b.String()
}

// Each site gets a block with what its own lines of the log suggest, as comments.
func TestInitLog(t *testing.T) {
	dir := t.TempDir()
	config, log := filepath.Join(dir, "Caddyfile"), filepath.Join(dir, "access.log")
	writeText(t, config, "a.test {\n\trespond ok\n}\nb.test {\n\trespond ok\n}\nc.test {\n\trespond ok\n}\n")
	ofA := logOf("a.test", "GPTBot/1.2", "/item/")
	without := strings.ReplaceAll(ofA, `"host":"a.test",`, "")
	for _, tt := range []struct {
		name, log, site string
		blocks          [][]string // what those of the sites have
		note            string
	}{
		{"three sites", ofA + logOf("b.test", "AhrefsBot/7.0", "/thing/") + logOf("other.test", "CCBot/2.0", "/x/"), "",
			[][]string{{"a.test\n", "\t#policy no-training\n", "#limit /item/"}, {"b.test\n", "deny seo", "#limit /thing/"}, {"c.test\n"}}, "note: c.test: the log has no request for it"},
		{"one of them", ofA, "a.test", [][]string{{"a.test\n", "#policy no-training", "#limit /item/"}}, ""},
		{"a short log", strings.Join(strings.SplitAfter(ofA, "\n")[:8], ""), "a.test", [][]string{{"a.test\n"}}, "are not enough to suggest policy or limit"},
		{"other hosts alone", logOf("other.test", "CCBot/2.0", "/x/"), "", [][]string{{"a.test\n"}, {"b.test\n"}, {"c.test\n"}}, "note: a.test, b.test, c.test: the log has no request for it"},
		{"no hosts, one site", without, "a.test", [][]string{{"a.test\n", "#policy no-training", "#limit /item/"}}, ""},
		{"no hosts, three sites", without, "", [][]string{{"a.test\n"}, {"b.test\n"}, {"c.test\n"}}, "it does not name the hosts"},
	} {
		writeText(t, log, tt.log)
		args := []string{"init", "--config", config, "--log", log}
		if tt.site != "" {
			args = append(args, "--site", tt.site)
		}
		status, stdout, stderr := commandline.Run("", args...)
		blocks := strings.Split(stdout, "# For ")[1:]
		if status != 0 || len(blocks) != len(tt.blocks) || !strings.Contains(stderr, tt.note) {
			t.Fatalf("%s: status %d\n%s%s", tt.name, status, stdout, stderr)
		}
		for i, want := range tt.blocks {
			for _, text := range want {
				if !strings.Contains(blocks[i], text) {
					t.Errorf("%s: no %q in block %d of\n%s", tt.name, text, i, stdout)
				}
			}
			if strings.Count(blocks[i], "#limit") != min(len(want)-1, 1) {
				t.Errorf("%s: a limit of another site: %s", tt.name, blocks[i])
			}
		}
	}
	for _, tt := range []struct{ want, site, log string }{{"has no request for b.test", "b.test", log}, {"several times", "a.test", "-"}} {
		writeText(t, log, ofA)
		if status, _, stderr := commandline.Run(ofA, "init", "--config", config, "--site", tt.site, "--log", tt.log); status != 1 || !strings.Contains(stderr, tt.want) {
			t.Errorf("status %d: %s", status, stderr)
		}
	}
}
