package child

import (
	"os/exec"
	"syscall"
)

func endWithParent(cmd *exec.Cmd, s syscall.Signal) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: s}
}
