// Package atomicfile replaces files at once: whoever reads one meanwhile gets
// the old or the new content, and never a part.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write replaces the file at path, or makes it with mode, by what write writes.
// Owner, group and mode of one that is there stay; symbolic links are followed.
// The content is on disk when Write returns. Where it fails, the file is as it
// was.
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
	tmp, err := os.CreateTemp(folder, "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails once it was renamed
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
