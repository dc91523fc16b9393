package fleet

import (
	"strings"
	"testing"
)

func TestParseFleetURL(t *testing.T) {
	for url, want := range map[string]string{ // addresses, database, user, password, TLS
		"redis://10.0.0.5:6379":                    "10.0.0.5:6379 0",
		"valkey://cache":                           "cache:6379 0",
		"redis://[2001:db8::1]":                    "[2001:db8::1]:6379 0",
		"rediss://user:p%40ss@cache:6380/3":        "cache:6380 3 user p@ss TLS",
		"valkeys://:secret@cache?skip_verify=true": "cache:6379 0 secret TLS any",
		"redis://a:7000?addr=b:7001&db=2":          "a:7000 b:7001 2",
		"redis://:pw@s1:1?addr=s2:2&master_set=main&sentinel_username=u&sentinel_password=v": "s1:1 s2:2 0 pw main u v",
		"unix:///run/redis.sock?db=1": "/run/redis.sock 1",
		"unix://:pw@/run/v.sock":      "/run/v.sock 0 pw",
	} {
		o, err := parseURL(url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		got := append(o.InitAddress, string(rune('0'+o.SelectDB)), o.Username, o.Password, o.Sentinel.MasterSet, o.Sentinel.Username, o.Sentinel.Password)
		if o.TLSConfig != nil {
			got = append(got, "TLS")
			if o.TLSConfig.InsecureSkipVerify {
				got = append(got, "any")
			}
		}
		if text := strings.Join(strings.Fields(strings.Join(got, " ")), " "); text != want {
			t.Errorf("%s: %s, want %s", url, text, want)
		}
	}
}

func TestParseFleetURLErrors(t *testing.T) {
	for url, want := range map[string]error{
		"":                                           errURL,
		"http://cache":                               errURL,
		"redis:cache":                                errURL,
		"redis://u:secret@cache:port":                errURL,
		"redis://u:secret@ca che":                    errURL,
		"redis://u:secret@cache/x":                   errURL,
		"redis://u:secret@cache/1/2":                 errURL,
		"redis://u:secret@cache?timeout=1s":          errParameter,
		"redis://u:secret@cache?addr=%zz":            errURL,
		"redis://u:secret@cache?addr=b":              errAddress,
		"redis://u:secret@cache#x":                   errURL,
		"rediss://u:secret@cache?skip_verify=maybe":  errURL,
		"redis://u:secret%zz@cache":                  errURL,
		"redis://:pa/ss@host:6379":                   errURL,
		"redis://user:12/34@host":                    errURL,
		"redis://user:12?34@host":                    errParameter,
		"user:pass@host":                             errURL,
		"redis://h?master_set=m&sentinel_password=;": errURL,
	} {
		if _, err := parseURL(url); err != want {
			t.Errorf("%s: %v, want %v", url, err, want)
		}
	}
}

// An error has a known text. The parts of the URL are not percent-encoded, as is the value of a
// placeholder.
func FuzzParseFleetURL(f *testing.F) {
	for _, password := range []string{"hunter2", "pa#ss", "p%zz", "pa/ss", "12/3", "12?addr=b", "pa@ss", "[::1]", "a&db=x", ""} {
		for _, rest := range []string{"h:1/2", "h", "?skip_verify=1&addr=[::1]", "/s?db=1", "h?master_set=m&sentinel_password="} {
			f.Add("redis://u:", password, rest)
			f.Add("rediss://", password, rest)
			f.Add("unix://:", password, rest)
		}
	}
	f.Fuzz(func(t *testing.T, start, password, rest string) {
		for _, s := range []string{start + password + "@" + rest, start + rest + password} {
			o, err := parseURL(s)
			if err != nil && err != errURL && err != errParameter && err != errAddress || err == nil && len(o.InitAddress) == 0 {
				t.Fatalf("%q: %v, %+v", s, err, o)
			}
		}
	})
}
