package throttle

import (
	"os/exec"
	"syscall"
)

// dieWithTest makes the system kill a server when the test process ends, even
// if that crashes.
func dieWithTest(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
