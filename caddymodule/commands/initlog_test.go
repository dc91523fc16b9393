package commands_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/test/commandline"
)

// logOfFlood is a log of four days in which GPTBot costs most. It has a monitor, a
// client of an API, and people.
func logOfFlood(hosts ...string) string {
	var b strings.Builder
	for i := range 800 {
		for _, c := range []struct{ target, agent string }{
			{"/item/%d", "GPTBot/1.2"}, {"/about", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"},
			{"/health", "UptimeRobot/2.0"}, {"/api/%d", "python-requests/2.32"},
		} {
			if c.target != "/item/%d" && i%10 > 0 {
				continue
			}
			fmt.Fprintf(&b, `{"ts":%d,"logger":"http.log.access","request":{"client_ip":"198.51.100.%d","method":"GET","host":%q,"uri":%q,"headers":{"User-Agent":[%q]}},"duration":1,"size":5000,"status":200}`+"\n",
				1794052800+i*500, i%60, hosts[i%len(hosts)], strings.ReplaceAll(c.target, "%d", fmt.Sprint(i)), c.agent)
		}
	}
	return b.String()
}

// initOutput runs init, and returns the Caddyfile it prints with the suggestions in use,
// and the notes.
func initOutput(t *testing.T, args ...string) (block, used, notes string) {
	t.Helper()
	status, stdout, stderr := commandline.Run("", append([]string{"init"}, args...)...)
	if status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	return stdout, regexp.MustCompile(`(?m)^(\t+)#([^ ])`).ReplaceAllString(stdout, "$1$2"), stderr
}

// checked returns what a configuration does with a request of GPTBot.
func checked(t *testing.T, dir, config, host string) string {
	t.Helper()
	name := filepath.Join(dir, "used.caddyfile")
	robots := filepath.Join(dir, "robots.txt")
	writeText(t, name, config)
	writeText(t, robots, "User-agent: *\nDisallow: /private/\n")
	_, stdout, stderr := commandline.Run("", "check", "--agent", "GPTBot", "--config", name, "--site", host, "--robots", robots, "/item/1")
	return stdout + stderr
}

// With --log, the block has what the log suggests as comments. Nothing changes until the operator removes a #, and then it works.
func TestInitLog(t *testing.T) {
	dir := t.TempDir()
	config, log := filepath.Join(dir, "Caddyfile"), filepath.Join(dir, "access.log")
	writeText(t, config, sitesWith("respond ok", []string{"a.test", "b.test"}))
	writeText(t, log, logOfFlood("a.test"))
	block, used, _ := initOutput(t, "--config", config, "--site", "a.test", "--log", log)
	for _, want := range []string{"\n\t# The log suggests these lines.", "\n\t#policy no-training\n"} {
		if !strings.Contains(block, want) {
			t.Errorf("no %q in\n%s", want, block)
		}
	}
	for text, want := range map[string]string{block: "allowed", used: "deny "} {
		if got := checked(t, dir, "a.test {\n"+text+"}\n", "a.test"); !strings.Contains(got, want) {
			t.Errorf("%s:\n%s\nwant %s", text, got, want)
		}
	}
	// A log with other hosts only is an error.
	if status, _, stderr := commandline.Run("", "init", "--config", config, "--site", "b.test", "--log", log); status != 1 || !strings.Contains(stderr, "has no request for b.test") {
		t.Errorf("status %d: %s", status, stderr)
	}
	if status, _, stderr := commandline.Run(logOfFlood("a.test"), "init", "--config", config, "--log", "-"); status != 1 || !strings.Contains(stderr, "several times") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// A short log is too little for a pace, and is said to be short.
func TestInitLogThatIsShort(t *testing.T) {
	dir := t.TempDir()
	config, log := filepath.Join(dir, "Caddyfile"), filepath.Join(dir, "access.log")
	writeText(t, config, sitesWith("respond ok", []string{"a.test"}))
	writeText(t, log, strings.Join(strings.SplitAfter(logOfFlood("a.test"), "\n")[:8], ""))
	block, used, notes := initOutput(t, "--config", config, "--log", log)
	if block != used || !strings.Contains(notes, "note: a.test: 33 min of a log are not enough for a pace: only challenge can be suggested.") {
		t.Errorf("%s%s", block, notes)
	}
}

// Each site gets a block with what its own lines of the log suggest.
func TestInitLogOfSites(t *testing.T) {
	dir := t.TempDir()
	config, log := filepath.Join(dir, "Caddyfile"), filepath.Join(dir, "access.log")
	writeText(t, config, sitesWith("respond ok", []string{"a.test", "b.test", "c.test"}))
	writeText(t, log, logOfFlood("a.test")+strings.NewReplacer("GPTBot", "AhrefsBot", "/item/", "/thing/", "UptimeRobot", "kube-probe").Replace(logOfFlood("b.test"))+
		logOfFlood("other.test"))
	block, used, notes := initOutput(t, "--config", config, "--log", log)
	blocks := strings.Split(block, "# For ")[1:]
	for i, want := range [][]string{{"a.test\n", "policy no-training", "limit /item/"}, {"b.test\n", "deny seo", "limit /thing/"}, {"c.test\n"}} {
		for _, text := range want {
			if len(blocks) != 3 || !strings.Contains(blocks[i], text) {
				t.Errorf("no %q in block %d of\n%s", text, i, block)
			}
		}
		if strings.Count(blocks[i], "#limit") != min(len(want)-1, 1) {
			t.Errorf("a limit of another site: %s", blocks[i])
		}
	}
	if !strings.Contains(notes, "note: c.test: the log has no request for it") {
		t.Errorf("notes: %s", notes)
	}
	for host, want := range map[string]string{"a.test": "deny ", "b.test": "allowed"} { // what is denied at b.test is another crawler
		_, own, _ := strings.Cut(used, "# For "+host)
		own, _, _ = strings.Cut(own, "\n\n# For")
		if got := checked(t, dir, host+" {\n"+own[strings.Index(own, "robots {"):]+"\n}\n", host); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
	// A log without hosts says nothing about one of several sites.
	writeText(t, log, strings.ReplaceAll(logOfFlood("a.test"), `"host":"a.test",`, ""))
	if block, _, notes := initOutput(t, "--config", config, "--log", log); strings.Contains(block, "limit") || !strings.Contains(notes, "note: the log: it does not name the hosts") {
		t.Errorf("%s%s", block, notes)
	}
}

// sitesWith returns a Caddyfile with the same line in each site.
func sitesWith(line string, hosts []string) string {
	var b strings.Builder
	for _, host := range hosts {
		fmt.Fprintf(&b, "%s {\n\t%s\n}\n", host, line)
	}
	return b.String()
}
