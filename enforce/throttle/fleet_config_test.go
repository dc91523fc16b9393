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
	tests := []struct{ url, want string }{
		{"", "scheme '' is none of"},
		{"http://cache", "scheme 'http' is none of"},
		{"rediss+unix:///run/redis.sock", "none of"},
		{"redis:cache", "want redis://host:port"},
		{"redis://", "'' is not host:port"},
		{"redis://:6379", "':6379' is not host:port"},
		{"redis://cache:", "'cache:' is not host:port"},
		{"redis://cache:0", "port '0' is not a number from 1 to 65535"},
		{"redis://cache:70000", "port '70000'"},
		{"redis://u:secret@cache:port", "invalid port"},
		{"redis://u:secret@ca che", "invalid character"},
		{"redis://u:secret@cache/x", "database 'x' is not a number"},
		{"redis://u:secret@cache/-1", "database '-1' is not a number"},
		{"redis://u:secret@cache/1/2", "database '1/2' is not a number"},
		{"redis://u:secret@cache/1?db=2", "given in the path and as db"},
		{"redis://u:secret@cache?timeout=1s", "parameter 'timeout' is none of addr, db,"},
		{"redis://u:secret@cache?db=1&db=2", "parameter 'db' is given 2 times"},
		{"redis://u:secret@cache?db=", "parameter 'db' has no value"},
		{"redis://u:secret@cache?addr=%zz", "invalid URL escape"},
		{"redis://u:secret@cache?addr=a:b:c", "'a:b:c' is not host:port"},
		{"redis://u:secret@cache#x", "want redis://host:port"},
		{"redis://u:secret@cache?skip_verify=true", "skip_verify without TLS"},
		{"rediss://u:secret@cache?skip_verify=maybe", "neither true nor false"},
		{"redis+unix://cache", "want redis+unix:///path/to/socket"},
		{"redis+unix://", "want redis+unix:///path/to/socket"},
		{"redis://u:secret%zz@cache", ""},
	}
	for _, test := range tests {
		_, err := ParseFleetURL(test.url)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "fleet URL: ") {
			t.Errorf("%s: %v, want %q", test.url, err, test.want)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error shows the password: %v", test.url, err)
		}
	}
}
