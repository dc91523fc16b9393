package evidence

import (
	"fmt"
	"syscall"
)

// Clock says whether the clock of this machine is synchronised (adjtimex(2)).
func Clock() string {
	var t syscall.Timex
	const timeError = 5 // not synchronised
	if state, err := syscall.Adjtimex(&t); err != nil || state == timeError {
		return "not synchronised, as far as its kernel knows"
	}
	return fmt.Sprintf("synchronised, at most %d ms wrong", (t.Maxerror+999)/1000)
}
