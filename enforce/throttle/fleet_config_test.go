package throttle

import (
	"strings"
	"testing"
)

func TestParseFleetURL(t *testing.T) {
	tests := []struct {
		url  string
		want FleetConfig
		tls  string // "", on or skip
	}{
		{"redis://10.0.0.5:6379", FleetConfig{Addresses: []string{"10.0.0.5:6379"}}, ""},
		{"valkey://cache", FleetConfig{Addresses: []string{"cache:6379"}}, ""},
		{"redis://[2001:db8::1]", FleetConfig{Addresses: []string{"[2001:db8::1]:6379"}}, ""},
		{"rediss://user:p%40ss@cache:6380/3", FleetConfig{Addresses: []string{"cache:6380"}, Username: "user", Password: "p@ss", Database: 3}, "on"},
		{"valkeys://:secret@cache?skip_verify=true", FleetConfig{Addresses: []string{"cache:6379"}, Password: "secret"}, "skip"},
		{"redis://a:7000?addr=b:7001&addr=c&db=2", FleetConfig{Addresses: []string{"a:7000", "b:7001", "c:6379"}, Database: 2}, ""},
		{"redis://:pw@s1?addr=s2&master_set=main&sentinel_username=u&sentinel_password=v", FleetConfig{Addresses: []string{"s1:26379", "s2:26379"}, Password: "pw", MasterSet: "main", SentinelUsername: "u", SentinelPassword: "v"}, ""},
		{"redis+unix:///run/redis.sock?db=1", FleetConfig{Addresses: []string{"/run/redis.sock"}, Database: 1}, ""},
		{"valkey+unix://:pw@/run/v.sock", FleetConfig{Addresses: []string{"/run/v.sock"}, Password: "pw"}, ""},
	}
	for _, test := range tests {
		c, err := ParseFleetURL(test.url)
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
		{"", errFleetScheme},
		{"http://cache", errFleetScheme},
		{"rediss+unix:///run/redis.sock", errFleetScheme},
		{"redis:cache", errFleetURL},
		{"redis://", errFleetAddress},
		{"redis://:6379", errFleetAddress},
		{"redis://cache:", errFleetAddress},
		{"redis://cache:0", errFleetAddress},
		{"redis://cache:70000", errFleetAddress},
		{"redis://u:secret@cache:port", errFleetURL},
		{"redis://u:secret@ca che", errFleetURL},
		{"redis://u:secret@cache/x", errFleetDatabase},
		{"redis://u:secret@cache/-1", errFleetDatabase},
		{"redis://u:secret@cache/1/2", errFleetDatabase},
		{"redis://u:secret@cache/1?db=2", errFleetDatabases},
		{"redis://u:secret@cache?timeout=1s", errFleetParameter},
		{"redis://u:secret@cache?addr=%zz", errFleetQuery},
		{"redis://u:secret@cache?addr=a:b:c", errFleetAddress},
		{"redis://u:secret@cache#x", errFleetURL},
		{"redis://u:secret@cache?skip_verify=true", errFleetPlain},
		{"rediss://u:secret@cache?skip_verify=maybe", errFleetSkipVerify},
		{"redis+unix://cache", errFleetURL},
		{"redis+unix://", errFleetSocket},
		{"redis+unix:///run/redis.sock?addr=b", errFleetSocket},
		// Parts of a password that is not percent-encoded can be in any part of
		// the URL.
		{"redis://u:secret%zz@cache", errFleetURL},
		{"redis://:pa#ss@host", errFleetURL},
		{"redis://:p%zz@host", errFleetURL},
		{"redis://:pa/ss@host:6379", errFleetURL},
		{"redis://:pa?ss@host:6379", errFleetURL},
		{"redis://user:12/34@host", errFleetDatabase},
		{"redis://user:12?34@host", errFleetParameter},
		{"redis://user:12#34@host", errFleetURL},
		{"redis://:pa[ss@host", errFleetURL},
		{"redis://:pa ss@host", errFleetURL},
		{"redis://user/pass@host", errFleetDatabase},
		{"user:pass@host", errFleetScheme},
		{"redis:user:pass@host", errFleetURL},
		{"redis+unix://:pa/ss@/run/redis.sock", errFleetURL},
		{"redis://h?master_set=m&sentinel_password=pa&ss", errFleetParameter},
		{"redis://h?master_set=m&sentinel_password=pa&db=ss", errFleetDatabase},
		{"redis://h?master_set=m&sentinel_password=pa%zz", errFleetQuery},
		{"redis://h?master_set=m&sentinel_password=pa;ss", errFleetQuery},
		{"redis://h?master_set=m&sentinel_password=pa#ss", errFleetURL},
	}
	for _, test := range tests {
		if _, err := ParseFleetURL(test.url); err != test.want {
			t.Errorf("%s: %v, want %v", test.url, err, test.want)
		}
	}
	for url, want := range map[string]string{
		"redis://u:secret@cache?db=1&db=2": "fleet URL: parameter db is given more than once",
		"redis://u:secret@cache?db=":       "fleet URL: parameter db has no value",
	} {
		if _, err := ParseFleetURL(url); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
	}
}

// fleetURLErrors returns the texts of all errors of ParseFleetURL. Except for
// the names of known parameters, no text depends on the URL.
func fleetURLErrors() map[string]bool {
	texts := make(map[string]bool)
	for _, err := range []error{errFleetURL, errFleetScheme, errFleetQuery, errFleetParameter, errFleetDatabase, errFleetDatabases, errFleetAddress, errFleetSocket, errFleetSkipVerify, errFleetPlain} {
		texts[err.Error()] = true
	}
	for _, name := range fleetParameters {
		texts["fleet URL: parameter "+name+" is given more than once"] = true
		texts["fleet URL: parameter "+name+" has no value"] = true
	}
	return texts
}
