package hosts

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/valkey-io/valkey-go"

	"github.com/caddy-robots/caddy-robots/bench/internal/server"
)

// How a server tells its counts: see caddymodule/steps/fleet.
const (
	countsSet = "robots:{server-counts}"
	tellEvery = 10 * time.Second
	toldFor   = time.Hour
)

// BenchmarkRedis measures with a real redis-server what 500 servers write into it per second, and
// what it holds then. Each tells what a running server with 1,000 hosts told, whose numbers are
// large and have nothing in common.
func BenchmarkRedis(b *testing.B) {
	const fleet, hosts = 500, 1000
	redis := startRedis(b)
	server.Start(b, "{\n\trobots {\n\t\tpersist "+busyHosts(b, hosts)+"\n\t}\n}\nhttp://:$PORT {\n\trobots {\n\t\tsource inline \"User-agent: *\"\n\t\tfleet "+redis+
		" {\n\t\t\tinstances 500\n\t\t}\n\t}\n\trespond page\n}")
	clients := make([]valkey.Client, fleet)
	for i := range clients {
		c, err := valkey.NewClient(valkey.ClientOption{InitAddress: []string{strings.TrimPrefix(redis, "redis://")}, DisableCache: true})
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		clients[i] = c
	}
	value := told(b, clients[0])
	for b.Loop() {
		measure(b, redis, clients, value)
	}
}

// busyHosts returns the name of a file of persist with hosts that had many requests in the last hour.
func busyHosts(b *testing.B, n int) string {
	b.Helper()
	now := time.Now().Unix()
	many := func() string {
		var series [60 + 24 + 31]int // see counters.steps
		for _, at := range []int64{now / 60 % 60, 60 + now/3600%24, 84 + now/86400%31} {
			series[at] = rand.IntN(100_000)
		}
		text, _ := json.Marshal(series)
		return fmt.Sprintf(`{"total":100000,"series":%s}`, text)
	}
	var hosts []string
	for i := range n {
		hosts = append(hosts, fmt.Sprintf(`{"name":"shop-%x-%d.example","pattern":"*","first":%d,"days":true,"seen":%d,"people":%s,"reasons":{"enforce disallowed":%s,"enforce allowed":%s,"enforce crawl_delay":%s}}`,
			rand.Uint32(), i, now/86400-2, now/60, many(), many(), many(), many()))
	}
	file := filepath.Join(b.TempDir(), "robots.json")
	text := fmt.Sprintf(`{"version":1,"at":%d,"since":%q,"sites":[{"name":"*","people":{"total":0}}],"hosts":[%s]}`, now/60, time.Now().UTC().Format(time.RFC3339), strings.Join(hosts, ","))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	return file
}

// measure lets each client tell a value every 10 seconds.
func measure(b *testing.B, redis string, clients []valkey.Client, value []byte) {
	b.Helper()
	var all sync.WaitGroup
	ctx, stop := context.WithCancel(context.Background())
	for i, c := range clients {
		all.Go(func() {
			time.Sleep(tellEvery * time.Duration(i) / time.Duration(len(clients)))
			for ctx.Err() == nil {
				publish(ctx, c, fmt.Sprintf("%016x", i), value)
				time.Sleep(tellEvery)
			}
		})
	}
	time.Sleep(tellEvery + 2*time.Second) // all have told theirs
	before, began := info(b, redis, "total_net_input_bytes"), time.Now()
	time.Sleep(2 * tellEvery)
	written := float64(info(b, redis, "total_net_input_bytes")-before) / time.Since(began).Seconds()
	held, used := info(b, redis, "used_memory_dataset"), info(b, redis, "used_memory")
	stop()
	all.Wait()
	b.ReportMetric(float64(len(value)), "octets/server")
	b.ReportMetric(written/1e6, "written-MB/s")
	b.ReportMetric(float64(held)/1e6, "held-MB")
	b.ReportMetric(float64(used)/1e6, "with-connections-MB")
	if written > 1e6 || held > 10e6 {
		b.Errorf("%.0f octets a second, %d held", written, held)
	}
}

// publish does what Publish in caddymodule/steps/fleet does.
func publish(ctx context.Context, c valkey.Client, id string, value []byte) {
	name, seconds, now := countsSet+":"+id, strconv.Itoa(int(toldFor.Seconds())), time.Now().Unix()
	do := func(command string, args ...string) valkey.Completed {
		return c.B().Arbitrary(command).Keys(args[0]).Args(args[1:]...).Build()
	}
	c.DoMulti(ctx, do("GET", name+":by"), do("SET", name+":by", "process", "EX", seconds), do("SET", name, string(value), "EX", seconds),
		do("ZADD", countsSet, strconv.FormatInt(now, 10), id), do("ZREMRANGEBYSCORE", countsSet, "-inf", "("+strconv.FormatInt(now-3600, 10)),
		do("ZREMRANGEBYRANK", countsSet, "0", "-1001"), do("EXPIRE", countsSet, seconds))
}

// told returns what the one server tells, when it tells something.
func told(b *testing.B, c valkey.Client) []byte {
	b.Helper()
	var last string
	for range 300 {
		ids, err := c.Do(b.Context(), c.B().Zrange().Key(countsSet).Min("0").Max("-1").Build()).AsStrSlice()
		last = fmt.Sprintf("%d servers, %v", len(ids), err)
		if err == nil && len(ids) == 1 {
			value, err := c.Do(b.Context(), c.B().Get().Key(countsSet+":"+ids[0]).Build()).AsBytes()
			if err == nil && len(value) > 10_000 {
				return value
			}
			last = fmt.Sprintf("%d octets, %v", len(value), err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	b.Fatal("the server does not tell its counts: ", last)
	return nil
}

// info returns a number of the INFO of a redis-server.
func info(b *testing.B, redis, field string) int64 {
	b.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(redis, "redis://"))
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("INFO\r\nQUIT\r\n")); err != nil {
		b.Fatal(err)
	}
	text, err := io.ReadAll(c)
	_, rest, found := strings.Cut(string(text), "\n"+field+":")
	n, errNumber := strconv.ParseInt(strings.TrimSpace(strings.SplitN(rest, "\n", 2)[0]), 10, 64)
	if err != nil || !found || errNumber != nil {
		b.Fatalf("%v, %v: %.100s", err, errNumber, rest)
	}
	return n
}
