//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package atomicfile

import (
	"io"
	"io/fs"
	"os"
)

// lock only opens the file: these systems are not supported.
func lock(path string, mode fs.FileMode) (io.Closer, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, mode)
}
