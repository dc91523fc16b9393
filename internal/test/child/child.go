// Package child makes programs that a test starts end with the test process, also when
// that is killed or ended by go test's time-out.
package child

import (
	"os/exec"
	"syscall"
)

// Command is exec.Command for a program that runs until the test ends it. On Linux, the
// system kills the program when the test process ends; other systems can't.
//
// Linux does so when the thread that started the program ends. Go ends a thread only
// with a goroutine that has locked it and not unlocked it; no test may have one.
func Command(name string, args ...string) *exec.Cmd {
	return SignalledCommand(syscall.SIGKILL, name, args...)
}

// SignalledCommand is Command for a program with children of its own, which it ends
// after a signal.
func SignalledCommand(s syscall.Signal, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	endWithParent(cmd, s)
	return cmd
}
