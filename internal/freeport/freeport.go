// Package freeport returns ports for servers that tests start as separate
// processes. Such a process must be given its port before it listens.
//
// A test that listens in its own process does not need it: it can listen on
// port 0.
package freeport

import (
	"errors"
	"net"
	"os"
	"strconv"
	"sync/atomic"
)

// The ports lie below those that Linux gives to outgoing connections and to
// servers on port 0 (32768 to 60999), so no other process gets one of them by
// chance between Take and the server's start.
const (
	first  = 10240
	blocks = 220
	block  = 100 // ports of one process before it takes those of the next
	count  = blocks * block
)

var taken atomic.Int64

// Take returns a port on which nothing listens now, over TCP or UDP, on any
// address. It never returns the same port twice in a process, and processes
// that run at the same time begin at different ports. Safe for concurrent use.
func Take() (int, error) {
	start := os.Getpid() % blocks * block
	for range count {
		port := first + (start+int(taken.Add(1)-1))%count
		if free(port) {
			return port, nil
		}
	}
	return 0, errors.New("no port is free")
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
