package audit

import (
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

// The logs of testdata have the same 14 requests in different formats, so that each
// report has the same figures. The format is detected.
func TestFormats(t *testing.T) {
	for _, c := range []struct {
		file, format string
		other        int64
		hosts        bool
	}{
		{file: "combined.log", format: "combined"},
		{file: "vhost-combined.log", format: "combined", hosts: true},
		{file: "combined-vhost.log", format: "combined", hosts: true},
		{file: "caddy.log", format: "caddy-json", other: 1, hosts: true},
		{file: "caddy-2.0.log", format: "caddy-json", hosts: true},
		{file: "caddy-renamed.log", format: "caddy-json", hosts: true},
		{file: "caddy-console.log", format: "caddy-console", hosts: true},
		{file: "docker.log", format: "caddy-json", hosts: true},
		{file: "nginx.log", format: "nginx-json", hosts: true},
		{file: "mixed.log", format: "caddy-json"},
	} {
		t.Run(c.file, func(t *testing.T) {
			r := mustRun(t, Options{Files: []logfile.File{onDisk(c.file)}, Sites: exampleSite(t)})
			if r.Requests != 14 || r.Unreadable != 0 || r.Other != c.other {
				t.Errorf("%d requests, %d unreadable, %d other: %v", r.Requests, r.Unreadable, r.Other, r.UnreadableExamples)
			}
			if in := r.Inputs[0]; in.Format != c.format {
				t.Errorf("format %s, want %s", in.Format, c.format)
			}
			if r.People != 4 || r.Robots != 10 || r.Costs.All.Octets != 120+5120+900+901+5120+12+100+100+7000+44+10 || r.Addresses != 8 {
				t.Errorf("%d of people, %d of robots, %d octets, %d addresses", r.People, r.Robots, r.Costs.All.Octets, r.Addresses)
			}
			if w := r.WouldHave; w.Denied != 2 || w.Throttled != 1 || w.Refused != 3 || w.Search != 1 || w.Judged != 14 || !w.Known {
				t.Errorf("would have %+v", w)
			}
			google, gpt, example := crawlerOf(t, r, "Googlebot"), crawlerOf(t, r, "GPTBot"), crawlerOf(t, r, "ExampleSpider")
			if google.Requests != 3 || google.Denied != 1 || google.RobotsTxtReads != 1 || google.Purposes[0] != "search" || google.Answers[0] != (Count{"200", 1}) {
				t.Errorf("%+v", google)
			}
			if gpt.Requests != 2 || gpt.Denied != 1 || gpt.Answers[0].Name != "404" {
				t.Errorf("%+v", gpt)
			}
			if example.Requests != 3 || example.Throttled != 1 || example.Class != "self-declared" || example.WorstHalfHour != 3 {
				t.Errorf("%+v", example)
			}
			if c := crawlerOf(t, r, ""); c.Class != "library" || c.Requests != 1 {
				t.Errorf("%+v", c)
			}
			for line, want := range map[int][2]int64{3: {1, 1}, 4: {1, 0}, 5: {3, 1}, 8: {1, 1}, 11: {0, 0}} {
				if rule := ruleOf(t, r, line); rule.Applied != want[0] || rule.Denied != want[1] {
					t.Errorf("line %d bound %d and denied %d, want %v", line, rule.Applied, rule.Denied, want)
				}
			}
			if from, to := r.Period.From, r.Period.To; from == nil || !from.Truncate(time.Second).Equal(time.Date(2026, 11, 7, 12, 0, 0, 0, time.UTC)) || to.Sub(*from).Round(time.Second) != 44*time.Second {
				t.Errorf("from %v to %v", from, to)
			}
			if c.hosts && (len(r.Hosts) != 2 || r.Hosts[1].Name != "www.example.com" || r.Hosts[1].Requests != 2) {
				t.Errorf("hosts %+v", r.Hosts)
			}
			if c.file != "mixed.log" && c.hosts == warned(r, "no_hosts") {
				t.Errorf("warnings %v", r.Warnings)
			}
		})
	}
}
