package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// lock opens the file so that nobody else can open it.
func lock(path string, _ fs.FileMode) (io.Closer, error) {
	const sharingViolation = syscall.Errno(32)
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	const access = syscall.GENERIC_READ | syscall.GENERIC_WRITE
	h, err := syscall.CreateFile(name, access, 0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, sharingViolation) {
		return nil, ErrLocked
	}
	if err != nil {
		return nil, &os.PathError{Op: "lock", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}
