package throttle

import (
	"os/exec"
	"syscall"
)

// dieWithTest makes a server end when the test does, however that ends.
func dieWithTest(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
