// Package atomicfile replaces files atomically: a process that reads a file during
// the change gets the old or the new content, never a part of one. It also has locks
// between processes.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write replaces the content of the file at path by the content that the function
// write writes. A new file gets the given mode. An existing file keeps its owner,
// group and mode. If path is a symbolic link, Write replaces the file to which it
// points.
//
// When Write returns nil, the content is on disk. If write or the file system
// fails, the file is not changed; only if the folder can't be synced, which is the
// last step, it is.
func Write(path string, mode fs.FileMode, write func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	case err == nil:
		mode = info.Mode()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	folder := filepath.Dir(path)
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // does nothing after the rename
	err = write(tmp)
	if info != nil {
		err = errors.Join(err, keepOwner(tmp, info))
	}
	// Chmod comes last: a change of owner clears some bits of the mode.
	if err = errors.Join(err, tmp.Chmod(mode), tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	return syncFolder(folder)
}

// ErrLocked is the error of Lock while someone else has the lock.
var ErrLocked = errors.New("another process uses it")

// Lock takes the lock that the file at path stands for, without waiting. It lasts
// until the result is closed or the process ends. A new file gets the given mode; it
// stays, because another process may have opened it. On a file system without locks,
// Lock always succeeds. A file that Write replaces can't have a lock itself.
func Lock(path string, mode fs.FileMode) (io.Closer, error) { return lock(path, mode) }
