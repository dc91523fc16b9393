//go:build unix

package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

// keepOwner gives f the owner and group of the file like. It returns an error if the
// process may not do that: with another owner, programs that could read the file
// before might not be able to.
func keepOwner(f *os.File, like os.FileInfo) error {
	want, ok := like.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if have, ok := info.Sys().(*syscall.Stat_t); ok && have.Uid == want.Uid && have.Gid == want.Gid {
		return nil
	}
	return f.Chown(int(want.Uid), int(want.Gid))
}

// syncFolder makes sure that a rename in a folder survives a crash. It does nothing
// on file systems that can't sync a folder.
func syncFolder(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return nil // the process may write to the folder, but not read it
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}
