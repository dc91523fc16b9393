package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/internal/test/commandline"
)

// terminal is a pseudo terminal. What a command writes to file is in its output.
type terminal struct {
	file   *os.File
	mu     sync.Mutex
	output bytes.Buffer
	done   chan struct{}
}

// newTerminal opens a terminal of a size.
func newTerminal(t *testing.T, width, height uint16) *terminal {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	ioctl := func(request uintptr, value unsafe.Pointer) {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, control.Fd(), request, uintptr(value)); errno != 0 {
			t.Fatal(errno)
		}
	}
	var unlocked, number int32
	ioctl(syscall.TIOCSPTLCK, unsafe.Pointer(&unlocked))
	ioctl(syscall.TIOCGPTN, unsafe.Pointer(&number))
	ioctl(syscall.TIOCSWINSZ, unsafe.Pointer(&[4]uint16{height, width}))
	file, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	tty := &terminal{file: file, done: make(chan struct{})}
	t.Cleanup(func() { file.Close(); control.Close() })
	go func() {
		defer close(tty.done)
		part := make([]byte, 4096)
		for {
			n, err := control.Read(part)
			tty.mu.Lock()
			tty.output.Write(part[:n])
			tty.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return tty
}

// written returns what was written so far, with the line ends of a file.
func (tty *terminal) written() string {
	tty.mu.Lock()
	defer tty.mu.Unlock()
	return strings.ReplaceAll(tty.output.String(), "\r\n", "\n")
}

// end closes the terminal and returns what was written.
func (tty *terminal) end() string {
	tty.file.Close()
	<-tty.done
	return tty.written()
}

// run runs a command on the terminal.
func (tty *terminal) run(ctx context.Context, args ...string) error {
	root := commandline.Command()
	root.SetOut(tty.file)
	root.SetErr(io.Discard)
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}

// The status fits the terminal, however narrow, but for commands, which are copied whole.
func TestStatusFitsTheTerminal(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	for _, width := range []uint16{80, 120, 200} {
		for name, answers := range map[string]map[string]any{"enforce": enforcing(), "monitor": monitoring()} {
			tty := newTerminal(t, width, 50)
			_ = tty.run(t.Context(), "status", "--address", adminEndpoint(t, answers)) // 2: there is a problem
			text := tty.end()
			commandline.Compare(t, filepath.Join(commandline.Folder(t), fmt.Sprintf("status-%s-%d.golden", name, width)), text)
			for line := range strings.Lines(text) {
				if n := len([]rune(line)) - 1; n > int(width) && !strings.HasPrefix(line, "        curl ") {
					t.Errorf("%s, %d columns: a line has %d: %s", name, width, n, line)
				}
			}
			if strings.Contains(text, "\x1b") {
				t.Errorf("%s: colours in spite of NO_COLOR", name)
			}
		}
	}
}

// Problems are in colour on a terminal: also the verified requests that were refused.
func TestStatusColours(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	tty := newTerminal(t, 200, 50)
	_ = tty.run(t.Context(), "status", "--address", adminEndpoint(t, enforcing()))
	if text := tty.end(); !strings.HasPrefix(text, "\x1b[1;33mwarning:\x1b[0m api.test") || !strings.Contains(text, " \x1b[1;31m1\x1b[0m  2026-11-22 14:13") {
		t.Errorf("%q", text)
	}
}

const (
	enterScreen = "\x1b[?1049h\x1b[?25l"
	leaveScreen = "\x1b[?25h\x1b[?1049l"
)

// --watch uses the alternate screen, shows rates, and leaves the screen when it ends.
func TestStatusWatch(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	before, after := enforcing(), enforcing()
	summary := before["/robots/"].(*statusapi.Summary)
	summary.Crawlers.Total.Requests = 1000
	after["/robots/"] = &statusapi.Summary{Now: summary.Now.Add(30 * time.Second), Since: summary.Since, Crawlers: statusapi.Windows[statusapi.Counts]{Total: statusapi.Counts{Requests: 1700}}, Health: statusapi.Health{OK: true}}
	var changed atomic.Bool
	address := changingEndpoint(t, func() map[string]any {
		if changed.Load() {
			return after
		}
		return before
	})
	tty := newTerminal(t, 200, 12)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- tty.run(ctx, "status", "--watch", "--every", "200ms", "--address", address) }()
	tty.await(t, "Press Control-C to end. More lines: ")
	changed.Store(true)
	tty.await(t, "Crawlers:  0 requests, 0 passed, now 1,400 a minute")
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	text := tty.end()
	if !strings.HasPrefix(text, enterScreen+"\x1b[H") || !strings.HasSuffix(text, leaveScreen) || strings.Count(text, leaveScreen) != 1 {
		t.Errorf("%q", text)
	}
	for page := range strings.SplitSeq(strings.TrimSuffix(text, leaveScreen), "\x1b[H") {
		if n := strings.Count(page, "\n"); n > 11 {
			t.Errorf("%d lines on a screen of 12: %q", n, page)
		}
	}
}

// await waits for a text.
func (tty *terminal) await(t *testing.T, text string) {
	t.Helper()
	for range 3000 {
		if strings.Contains(tty.written(), text) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("no %q in %q", text, tty.written())
}

// While Caddy does not answer, --watch says so and tries again, and Control-C ends it.
func TestStatusWatchWithoutCaddy(t *testing.T) {
	down := httptest.NewServer(nil)
	address := down.Listener.Addr().String()
	down.Close()
	tty := newTerminal(t, 100, 20)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- tty.run(ctx, "status", "--watch", "--every", "200ms", "--address", address) }()
	tty.await(t, "no answer from Caddy at "+address)
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if text := tty.end(); !strings.HasSuffix(text, leaveScreen) {
		t.Errorf("%q", text)
	}
}

// Control-C ends --watch also while Caddy does not answer at all.
func TestStatusWatchOfCaddyThatHangs(t *testing.T) {
	asked, end := make(chan struct{}, 1), make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-end
	}))
	defer hangs.Close()
	defer close(end)
	tty := newTerminal(t, 100, 20)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- tty.run(ctx, "status", "--watch", "--address", hangs.Listener.Addr().String()) }()
	<-asked
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if text := tty.end(); text != enterScreen+leaveScreen {
		t.Errorf("%q", text)
	}
}

// The screen is left on a panic too: here that of a ticker without an interval.
func TestStatusWatchLeavesTheScreen(t *testing.T) {
	tty := newTerminal(t, 100, 20)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		_ = cli.Watch(t.Context(), 0, "localhost:2019", tty.file)
	}()
	if text := tty.end(); text != enterScreen+leaveScreen {
		t.Errorf("%q", text)
	}
}
