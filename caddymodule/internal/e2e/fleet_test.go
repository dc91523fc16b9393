package e2e_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// The password of Redis may change while the server runs. A reload reads it again,
// even if the text of the configuration is the same.
func TestChangedRedisPasswordAfterAReload(t *testing.T) {
	t.Parallel()
	const first, second = "FirstPassword123", "SecondPassword456"
	redis := miniredis.NewMiniRedis()
	// A port that no outgoing connection gets, because Redis starts at it again.
	if err := redis.StartAddr(fmt.Sprintf("127.0.0.1:%d", freePort(t))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(redis.Close)
	redis.RequireAuth(first)
	file := filepath.Join(t.TempDir(), "password")
	writeFile(t, file, first)
	config := siteWith("fleet redis://:{file." + file + "}@" + redis.Addr())
	s := start(t, config)
	up := func(want float64) func() bool {
		return func() bool {
			s.wants(200, s.get(chrome, "/private/x"), "a person")
			s.get(bingbot, "/")
			return s.metric("caddy_robots_fleet_up") == want
		}
	}
	s.eventually("budgets are shared", up(1))

	writeFile(t, file, second)
	redis.Close()
	redis.RequireAuth(second)
	if err := redis.Restart(); err != nil {
		t.Fatal(err)
	}
	s.eventually("the old password is refused", up(0))
	if err := s.reload(config); err != nil {
		t.Fatal(err)
	}
	s.eventually("budgets are shared with the new password", up(1))
	for _, password := range []string{first, second, first[:8], second[:8]} {
		if strings.Contains(string(s.log.bytes()), password) {
			t.Errorf("the log has %q, which is a part of a password", password)
		}
	}
}

// Each server of a fleet shows the counts of all.
func TestServersOfAFleetShowTheirSum(t *testing.T) {
	t.Parallel()
	redis := miniredis.RunT(t)
	config := siteWith("fleet redis://" + redis.Addr())
	var servers []*server
	for n := range 2 {
		s := start(t, config)
		for range n + 1 {
			s.wants(403, s.get(bingbot, "/private/x"), "a crawler")
		}
		s.get(chrome, "/")
		servers = append(servers, s)
	}
	for _, s := range append(servers, servers...) { // each tells its counts when it begins, and each minute
		s.eventually("Redis answers", func() bool { return s.metric("caddy_robots_fleet_up") == 1 })
		if err := s.reload(config); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range servers {
		var got statusapi.Status
		s.eventually("the counts of both", func() bool {
			got = statusapi.Status{}
			s.adminRequest("GET", "?limit=1", 200, &got)
			return got.Servers == 2 && got.Crawlers.Total.Denied == 3 && got.People.Total == 2
		})
	}
}
