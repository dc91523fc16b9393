package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

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

// On a terminal, the status has no columns without values.
func TestStatusOnATerminal(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	for name, answers := range map[string]*statusapi.Status{"enforce": enforcing(), "monitor": monitoring()} {
		tty := newTerminal(t, 80, 50)
		_ = tty.run(t.Context(), "status", "--address", adminEndpoint(t, answers)) // 2: there is a problem
		text := tty.end()
		commandline.Compare(t, filepath.Join(commandline.Folder(t), fmt.Sprintf("status-%s-terminal.golden", name)), text)
		if strings.Contains(text, "\x1b") {
			t.Errorf("%s: colours in spite of NO_COLOR", name)
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
