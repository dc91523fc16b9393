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
			t.Fatalf("port %d: given before %v", port, seen[port])
		}
		seen[port] = true
	}
}

// A port that is in use is not given, whichever protocol uses it.
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
		t.Errorf("port %d is free beside a UDP server", port)
	}
	packets.Close()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if free(port) {
		t.Errorf("port %d is free beside a TCP server", port)
	}
}
