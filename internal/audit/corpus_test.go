package audit

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

// corpusLog returns a real log, which is not part of this module. It returns false if
// ROBOTS_CORPUS is not set.
func corpusLog(t *testing.T, name string) (logfile.File, bool) {
	t.Helper()
	folder := os.Getenv("ROBOTS_CORPUS")
	if folder == "" {
		t.Log("ROBOTS_CORPUS is not set: only the logs of testdata are tested")
		return logfile.File{}, false
	}
	return logfile.File{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(filepath.Join(folder, "logs", name)) }}, true
}

// The figures for real logs were counted with awk. A complete line has seven parts or
// more between quotation marks, and the last part is empty:
//
//	awk -F'"' 'NF>=7 && $NF==""'                     requests and connections without one
//	… && $2 ~ /^[A-Z]+ /                             requests
//	… {split($3,a," "); b+=a[2]} END{printf "%.0f\n",b}   octets
//	… && $6=="-"                                     without a User-Agent
//	… && $6 ~ /Googlebot\/2/                         of a crawler
//	… && $6 ~ /bingbot/ && $2 ~ /^[A-Z]+ \/robots.txt /   reads of robots.txt
//	… && $6 ~ /bingbot/ && $2 ~ /^[A-Z]+ \/blog\/tags\//  below a path
//	awk '{print $1}' | sort -u | wc -l               addresses
func TestCorpusCombined(t *testing.T) {
	file, ok := corpusLog(t, "combined-semicomplete-2015.log")
	if !ok {
		return
	}
	r := mustRun(t, Options{Files: []logfile.File{file}, Sites: oneSite("User-agent: *\nDisallow: /images/\nUser-agent: bingbot\nDisallow: /blog/tags/\n")})
	if r.Lines != 10_000 || r.Requests != 9_999 || r.Unreadable != 1 || r.Costs.All.Octets != 2_747_282_505 {
		t.Errorf("%d lines, %d requests, %d unreadable, %d octets", r.Lines, r.Requests, r.Unreadable, r.Costs.All.Octets)
	}
	if r.Addresses < 1_474*97/100 || r.Addresses > 1_474*103/100 || !r.Estimated {
		t.Errorf("%d addresses, %v", r.Addresses, r.Estimated)
	}
	google, bing := crawlerOf(t, r, "Googlebot"), crawlerOf(t, r, "bingbot")
	if google.Requests != 509 || google.Denied != 2 || bing.Requests != 58 || bing.Denied != 6 || bing.RobotsTxtReads != 13 || bing.Addresses != 8 {
		t.Errorf("%+v %+v", google, bing)
	}
	if crawlerOf(t, r, "").Requests != 190 || crawlerOf(t, r, "AhrefsBot").Requests != 34 {
		t.Errorf("%+v", r.Crawlers)
	}
	if e := r.UnreadableExamples[0]; e.LineNo != 8899 || e.Reason != "ends too early" {
		t.Errorf("%+v", e)
	}
}

func TestCorpusNginx(t *testing.T) {
	file, ok := corpusLog(t, "combined-saunathinker-2025.log")
	if !ok {
		return
	}
	r := mustRun(t, Options{Files: []logfile.File{file}})
	if r.Lines != 1_212 || r.Requests != 1_210 || r.Other != 2 || r.Costs.All.Octets != 1_834_668 || crawlerOf(t, r, "AhrefsBot").Requests != 61 || crawlerOf(t, r, "Googlebot").Requests != 24 {
		t.Errorf("%d lines, %d requests, %d other, %d octets", r.Lines, r.Requests, r.Other, r.Costs.All.Octets)
	}
}

// The figures by host: awk … && $2 ~ /^[A-Z]+ /' | awk '{print $1}' | sort | uniq -c
func TestCorpusVirtualHosts(t *testing.T) {
	file, ok := corpusLog(t, "vhost-combined-2024.log")
	if !ok {
		return
	}
	r := mustRun(t, Options{Files: []logfile.File{file}})
	if r.Lines != 801 || r.Requests != 748 || r.Other != 53 || r.Costs.All.Octets != 157_218_027 || r.Addresses != 5 {
		t.Errorf("%d lines, %d requests, %d other, %d octets, %d addresses", r.Lines, r.Requests, r.Other, r.Costs.All.Octets, r.Addresses)
	}
	if len(r.Hosts) != 2 || r.Hosts[0].Name != "farmwork.app" || r.Hosts[0].Requests != 600 || r.Hosts[1].Requests != 148 {
		t.Errorf("%+v", r.Hosts)
	}
}

// The logs have the same 16 requests, which Caddy wrote in each of its formats.
func TestCorpusCaddyFormats(t *testing.T) {
	for _, name := range []string{
		"a01-json", "a02-json-iso8601", "a03-json-millis", "a04-json-wall", "a05-json-rfc3339", "a06-json-common-time", "a07-json-unixnano", "a08-console",
		"a09-console-iso", "a10-filter", "a11-filter-hash", "a13-append", "a15-transform-combined", "a16-transform-vhost", "a17-journald",
	} {
		file, ok := corpusLog(t, filepath.Join("caddy-formats", name+".log"))
		if !ok {
			return
		}
		r := mustRun(t, Options{Files: []logfile.File{file}, Sites: oneSite("User-agent: *\nDisallow: /private/\nUser-agent: GPTBot\nDisallow: /\n")})
		// awk 'END{print NR}'; grep -c '"action":"deny"'
		if r.Requests != 16 || r.Unreadable != 0 || r.People != 6 || r.WouldHave.Denied != 3 || crawlerOf(t, r, "Googlebot").Denied != 1 {
			t.Errorf("%s: %d requests, %d of people, would have %+v", name, r.Requests, r.People, r.WouldHave)
		}
	}
	for _, name := range []string{"a12-filter-noua", "a14-transform-common"} {
		file, _ := corpusLog(t, filepath.Join("caddy-formats", name+".log"))
		if _, err := Run(t.Context(), Options{Files: []logfile.File{file}}); err == nil || !strings.Contains(err.Error(), "no User-Agents") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
