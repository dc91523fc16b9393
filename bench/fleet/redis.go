package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// outage is how long a fault lasts.
const outage = 10 * time.Second

// redis is one server, two with a Sentinel, or a cluster of three masters and
// three replicas. The first servers are the masters at the start.
type redis struct {
	dir     string
	url     string
	servers []*exec.Cmd
	args    [][]string
	faults  map[string]func() // in the order of their names
}

const firstPort = 18400

func newRedis(dir, kind string) *redis {
	r := &redis{dir: dir}
	first := fmt.Sprintf("127.0.0.1:%d", firstPort)
	r.url = "redis://" + first
	r.faults = map[string]func(){
		"1 kill": func() {
			i := r.firstMaster()
			end(r.servers[i])
			time.Sleep(outage)
			r.restart(i)
		},
		"2 hang": func() {
			master := r.servers[r.firstMaster()].Process
			check(master.Signal(syscall.SIGSTOP))
			time.Sleep(outage)
			check(master.Signal(syscall.SIGCONT))
		},
		"3 FLUSHALL": r.flush,
	}
	switch kind {
	case "single":
		r.add()
	case "sentinel":
		r.add()
		r.add("--replicaof", "127.0.0.1", strconv.Itoa(firstPort))
		config := filepath.Join(dir, "sentinel.conf")
		check(os.WriteFile(config,
			fmt.Appendf(nil,
				"sentinel monitor main 127.0.0.1 %d 1\nsentinel down-after-milliseconds main 1000\nsentinel failover-timeout main 3000\n", firstPort),
			0o600))
		r.args = append(r.args, []string{config, "--sentinel", "--port", strconv.Itoa(firstPort + 2)})
		r.servers = append(r.servers, nil)
		r.restart(2)
		r.url = fmt.Sprintf("redis://127.0.0.1:%d?master_set=main", firstPort+2)
		r.faults["4 failover"] = func() { cli(firstPort+2, "SENTINEL", "FAILOVER", "main") }
	case "cluster":
		create := []string{"--cluster", "create"}
		for i := range 6 {
			r.add("--cluster-enabled", "yes", "--cluster-node-timeout", "2000", "--cluster-config-file", fmt.Sprintf("nodes%d.conf", i))
			create = append(create, fmt.Sprintf("127.0.0.1:%d", firstPort+i))
		}
		cli(firstPort, append(create, "--cluster-replicas", "1", "--cluster-yes")...)
		for !strings.Contains(cli(firstPort, "INFO", "replication"), "state=online") ||
			!strings.Contains(cli(firstPort, "CLUSTER", "INFO"), "cluster_state:ok") {
			time.Sleep(100 * time.Millisecond)
		}
		r.url += fmt.Sprintf("?addr=127.0.0.1:%d&addr=127.0.0.1:%d", firstPort+1, firstPort+2)
		r.faults["4 failover"] = func() {
			for i := range r.servers {
				if !r.master(i) {
					cli(firstPort+i, "CLUSTER", "FAILOVER")
					return
				}
			}
		}
	}
	return r
}

// add starts a server.
func (r *redis) add(args ...string) {
	i := len(r.servers)
	r.servers = append(r.servers, nil)
	r.args = append(r.args, append([]string{"--port", strconv.Itoa(firstPort + i), "--save", "", "--repl-diskless-sync-delay", "0"}, args...))
	check(os.MkdirAll(r.dir, 0o700))
	r.restart(i)
}

// restart starts a server that was stopped, without its data.
func (r *redis) restart(i int) {
	r.servers[i] = start(filepath.Join(r.dir, fmt.Sprintf("redis%d.log", i)), "redis-server", r.args[i]...)
	for cli(firstPort+i, "PING") != "PONG\n" {
		time.Sleep(20 * time.Millisecond)
	}
}

// firstMaster returns a server that is a master.
func (r *redis) firstMaster() int {
	for i := 0; ; i = (i + 1) % len(r.servers) {
		if r.master(i) {
			return i
		}
	}
}

func (r *redis) master(i int) bool {
	return strings.Contains(cli(firstPort+i, "ROLE"), "master")
}

// flush removes the data of all servers.
func (r *redis) flush() {
	for i := range r.servers {
		if r.master(i) {
			cli(firstPort+i, "FLUSHALL")
		}
	}
}

func (r *redis) stop() {
	for _, server := range r.servers {
		end(server)
	}
}

// cli returns the output of redis-cli.
func cli(port int, args ...string) string {
	out, _ := exec.Command("redis-cli", append([]string{"-p", strconv.Itoa(port)}, args...)...).CombinedOutput()
	return string(out)
}
