//go:build unix

package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

// keepOwner gives a file the owner and group of another one. Where the user may
// not do that, it fails, so that nobody loses access to a file by accident.
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

// syncFolder makes a rename in a folder survive a crash. File systems that
// can't sync a folder are left alone.
func syncFolder(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return nil // a folder that may be written and not read
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}
