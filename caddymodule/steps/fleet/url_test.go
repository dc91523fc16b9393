package fleet

import (
	"net"
	"strings"
	"testing"
)

func TestParseFleetURL(t *testing.T) {
	tests := []struct {
		url  string
		want config
		tls  string // "", on or skip
	}{
		{"redis://10.0.0.5:6379", config{Addresses: []string{"10.0.0.5:6379"}}, ""},
		{"valkey://cache", config{Addresses: []string{"cache:6379"}}, ""},
		{"redis://[2001:db8::1]", config{Addresses: []string{"[2001:db8::1]:6379"}}, ""},
		{"rediss://user:p%40ss@cache:6380/3", config{Addresses: []string{"cache:6380"}, Username: "user", Password: "p@ss", Database: 3}, "on"},
		{"valkeys://:secret@cache?skip_verify=true", config{Addresses: []string{"cache:6379"}, Password: "secret"}, "skip"},
		{"redis://a:7000?addr=b:7001&addr=c&db=2", config{Addresses: []string{"a:7000", "b:7001", "c:6379"}, Database: 2}, ""},
		{"redis://:pw@s1?addr=s2&master_set=main&sentinel_username=u&sentinel_password=v", config{Addresses: []string{"s1:26379", "s2:26379"}, Password: "pw", MasterSet: "main", SentinelUsername: "u", SentinelPassword: "v"}, ""},
		{"redis+unix:///run/redis.sock?db=1", config{Addresses: []string{"/run/redis.sock"}, Database: 1}, ""},
		{"valkey+unix://:pw@/run/v.sock", config{Addresses: []string{"/run/v.sock"}, Password: "pw"}, ""},
	}
	for _, test := range tests {
		c, err := parseURL(test.url)
		if err != nil {
			t.Errorf("%s: %v", test.url, err)
			continue
		}
		secure := ""
		if c.TLS != nil {
			secure = "on"
			if c.TLS.InsecureSkipVerify {
				secure = "skip"
			}
		}
		if got := strings.Join(c.Addresses, " "); got != strings.Join(test.want.Addresses, " ") || secure != test.tls ||
			c.Username != test.want.Username || c.Password != test.want.Password || c.Database != test.want.Database ||
			c.MasterSet != test.want.MasterSet || c.SentinelUsername != test.want.SentinelUsername || c.SentinelPassword != test.want.SentinelPassword {
			t.Errorf("%s: %+v, TLS %q", test.url, c, secure)
		}
	}
}

func TestParseFleetURLErrors(t *testing.T) {
	tests := []struct {
		url  string
		want error
	}{
		{"", errScheme},
		{"http://cache", errScheme},
		{"rediss+unix:///run/redis.sock", errScheme},
		{"redis:cache", errURL},
		{"redis://", errAddress},
		{"redis://:6379", errAddress},
		{"redis://cache:", errAddress},
		{"redis://cache:0", errAddress},
		{"redis://cache:70000", errAddress},
		{"redis://u:secret@cache:port", errURL},
		{"redis://u:secret@ca che", errURL},
		{"redis://u:secret@cache/x", errDatabase},
		{"redis://u:secret@cache/-1", errDatabase},
		{"redis://u:secret@cache/1/2", errDatabase},
		{"redis://u:secret@cache/1?db=2", errDatabases},
		{"redis://u:secret@cache?timeout=1s", errParameter},
		{"redis://u:secret@cache?addr=%zz", errQuery},
		{"redis://u:secret@cache?addr=a:b:c", errAddress},
		{"redis://u:secret@cache#x", errURL},
		{"redis://u:secret@cache?skip_verify=true", errPlain},
		{"rediss://u:secret@cache?skip_verify=maybe", errSkipVerify},
		{"redis+unix://cache", errURL},
		{"redis+unix://", errSocket},
		{"redis+unix:///run/redis.sock?addr=b", errSocket},
		// Parts of a password that is not percent-encoded can be in any part of
		// the URL.
		{"redis://u:secret%zz@cache", errURL},
		{"redis://:pa#ss@host", errURL},
		{"redis://:p%zz@host", errURL},
		{"redis://:pa/ss@host:6379", errURL},
		{"redis://:pa?ss@host:6379", errURL},
		{"redis://user:12/34@host", errDatabase},
		{"redis://user:12?34@host", errParameter},
		{"redis://user:12#34@host", errURL},
		{"redis://:pa[ss@host", errURL},
		{"redis://:pa ss@host", errURL},
		{"redis://user/pass@host", errDatabase},
		{"user:pass@host", errScheme},
		{"redis:user:pass@host", errURL},
		{"redis+unix://:pa/ss@/run/redis.sock", errURL},
		{"redis://h?master_set=m&sentinel_password=pa&ss", errParameter},
		{"redis://h?master_set=m&sentinel_password=pa&db=ss", errDatabase},
		{"redis://h?master_set=m&sentinel_password=pa%zz", errQuery},
		{"redis://h?master_set=m&sentinel_password=pa;ss", errQuery},
		{"redis://h?master_set=m&sentinel_password=pa#ss", errURL},
	}
	for _, test := range tests {
		if _, err := parseURL(test.url); err != test.want {
			t.Errorf("%s: %v, want %v", test.url, err, test.want)
		}
	}
	for url, want := range map[string]string{
		"redis://u:secret@cache?db=1&db=2": "fleet URL: parameter db is given more than once",
		"redis://u:secret@cache?db=":       "fleet URL: parameter db has no value",
	} {
		if _, err := parseURL(url); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
	}
}

// urlErrors returns the texts of all errors of parseURL. Except for
// the names of known parameters, no text depends on the URL.
func urlErrors() map[string]bool {
	texts := make(map[string]bool)
	for _, err := range []error{errURL, errScheme, errQuery, errParameter, errDatabase, errDatabases, errAddress, errSocket, errSkipVerify, errPlain} {
		texts[err.Error()] = true
	}
	for _, name := range parameters {
		texts["fleet URL: parameter "+name+" is given more than once"] = true
		texts["fleet URL: parameter "+name+" has no value"] = true
	}
	return texts
}

// parseURL returns an error with a known text, or addresses with host and
// port. The parts of the URL are not percent-encoded, as is the value of a
// placeholder.
func FuzzParseFleetURL(f *testing.F) {
	for _, password := range []string{"hunter2", "pa#ss", "p%zz", "pa/ss", "12/3", "12?addr=b", "pa@ss", "[::1]", "a&db=x", ""} {
		for _, rest := range []string{"h:1/2", "h", "?skip_verify=1&addr=[::1]", "/s?db=1", "h?master_set=m&sentinel_password="} {
			f.Add("redis://u:", password, rest)
			f.Add("rediss://", password, rest)
			f.Add("valkey+unix://:", password, rest)
		}
	}
	texts := urlErrors()
	f.Fuzz(func(t *testing.T, start, password, rest string) {
		for _, s := range []string{start + password + "@" + rest, start + rest + password} {
			c, err := parseURL(s)
			if err != nil {
				if !texts[err.Error()] {
					t.Fatalf("%q: %v is not one of the known texts", s, err)
				}
				continue
			}
			if len(c.Addresses) == 0 || c.Database < 0 {
				t.Fatalf("%q: %+v", s, c)
			}
			for _, address := range c.Addresses {
				if host, port, err := net.SplitHostPort(address); !strings.HasPrefix(address, "/") && (err != nil || host == "" || port == "") {
					t.Fatalf("%q: address %q", s, address)
				}
			}
		}
	})
}
