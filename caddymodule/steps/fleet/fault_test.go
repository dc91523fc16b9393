package fleet

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/valkey-io/valkey-go"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// newEchoServer starts a server that replies to each command with an error that
// starts with words and repeats the command. It returns the address.
func newEchoServer(t *testing.T, words string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	t.Cleanup(func() { listener.Close(); group.Wait() })
	group.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			group.Go(func() {
				defer conn.Close()
				in := bufio.NewReader(conn)
				for {
					command, err := readCommand(in)
					if err != nil {
						return
					}
					fmt.Fprintf(conn, "-%s %s\r\n", words, strings.ReplaceAll(strings.Join(command, " "), "\n", " "))
				}
			})
		}
	})
	return listener.Addr().String()
}

// readCommand reads an array of bulk strings.
func readCommand(in *bufio.Reader) ([]string, error) {
	number := func() (n int, err error) {
		line, err := in.ReadString('\n')
		if err == nil {
			_, err = fmt.Sscanf(line[1:], "%d", &n)
		}
		return n, err
	}
	n, err := number()
	var command []string
	for range n {
		size, err := number()
		if err != nil {
			return nil, err
		}
		arg := make([]byte, size+2)
		if _, err := io.ReadFull(in, arg); err != nil {
			return nil, err
		}
		command = append(command, string(arg[:size]))
	}
	return command, err
}

// Servers repeat credentials in their replies. No error contains them.
func TestFleetErrorsContainNoCredentials(t *testing.T) {
	secrets := []string{"alice", "hunter2", "bob", "swordfish"}
	for _, words := range []string{
		"ERR unknown command 'HELLO', with args beginning with:",
		"WRONGPASS invalid username-password pair for", "NOPERM User alice has no permissions to run",
		"ERR", "hunter2", "CLUSTER", "MOVED 1 hunter2:1", "ASK 1 swordfish:1", "LOADING",
	} {
		for _, masterSet := range []string{"", "main"} {
			if masterSet != "" && strings.Contains(words, "unknown command") {
				continue // the client panics when such a server refuses SUBSCRIBE
			}
			c := config{ClientOption: at(newEchoServer(t, words))}
			c.Username, c.Password = "alice", "hunter2"
			c.Sentinel = valkey.SentinelOption{MasterSet: masterSet, Username: "bob", Password: "swordfish"}
			r := newRecorder()
			f := newLimiter(c, throttle.NewMemory(100), r)
			f.connect()
			r.await(t, stateDown)
			f.close()
			for _, text := range r.noted() {
				if slices.ContainsFunc(secrets, func(s string) bool { return strings.Contains(text, s) }) {
					t.Errorf("%s, master set %q: the error is %s", words, masterSet, text)
				}
			}
		}
	}
}

// For an error that is not a reply, explain returns only the error of the
// standard library, without the text around it.
func TestExplain(t *testing.T) {
	dial := &net.OpError{Op: "dial", Net: "tcp", Err: io.ErrClosedPipe}
	for _, test := range []struct{ err, want error }{
		{nil, nil},
		{fmt.Errorf("hunter2: %w", dial), dial},
		{fmt.Errorf("hunter2: %w", context.DeadlineExceeded), errDeadline},
		{fmt.Errorf("%w: hunter2", errReply), errReply},
		{fmt.Errorf("hunter2"), errEnded},
		{io.EOF, errEnded},
	} {
		if got := explain(test.err); got != test.want {
			t.Errorf("explain(%v) = %v, want %v", test.err, got, test.want)
		}
	}
}
