package freeport

import (
	"net"
	"strconv"
	"testing"
)

func TestTake(t *testing.T) {
	seen := map[int]bool{}
	for range 250 {
		port, err := Take()
		if err != nil {
			t.Fatal(err)
		}
		if seen[port] || port < first || port >= first+count {
			t.Fatalf("port %d: out of range, or returned before (%v)", port, seen[port])
		}
		seen[port] = true
	}
}

// A port that another server uses, over UDP or TCP, is not free.
func TestPortInUseIsNotFree(t *testing.T) {
	port, err := Take()
	if err != nil {
		t.Fatal(err)
	}
	address := "127.0.0.1:" + strconv.Itoa(port)
	packets, err := net.ListenPacket("udp", address)
	if err != nil {
		t.Fatal(err)
	}
	if free(port) {
		t.Errorf("port %d is free, but a UDP server uses it", port)
	}
	packets.Close()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if free(port) {
		t.Errorf("port %d is free, but a TCP server uses it", port)
	}
}
