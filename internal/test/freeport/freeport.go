// Package freeport returns free ports for servers that tests start as separate
// processes. A test must choose the port of such a server before it starts.
//
// A test that listens in its own process does not need this package: it can
// listen on port 0.
package freeport

import (
	"errors"
	"net"
	"os"
	"strconv"
	"sync/atomic"
)

// The ports are below those that Linux assigns to outgoing connections and to
// listeners on port 0 (32768 to 60999). So Linux does not assign them to
// another process between the call of Take and the start of the server.
const (
	first  = 10240
	blocks = 220
	block  = 100 // distance between the first ports of two processes with successive ids
	count  = blocks * block
)

var taken atomic.Int64

// Take returns a port that is free for TCP and UDP on all addresses. It returns
// each port only once in a process, and processes with successive ids start at
// different ports. It returns an error if no port is free. Take is safe for
// concurrent use.
func Take() (int, error) {
	start := os.Getpid() % blocks * block
	for range count {
		port := first + (start+int(taken.Add(1)-1))%count
		if free(port) {
			return port, nil
		}
	}
	return 0, errors.New("no free port from 10240 to 32239")
}

func free(port int) bool {
	address := ":" + strconv.Itoa(port)
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return false
	}
	defer listener.Close()
	packets, err := net.ListenPacket("udp", address)
	if err != nil {
		return false
	}
	return packets.Close() == nil
}
