package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// rewrite replaces a file by its corrected content, at once: whoever reads it
// meanwhile gets the old or the new content, and never a part. Owner, group and
// mode stay; symbolic links are followed. A file that needs no correction is
// not touched.
func rewrite(name string, old, fixed []byte) error {
	if string(old) == string(fixed) {
		return nil
	}
	path, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("--write can't write %s back: it is not a regular file", name)
	}
	folder := filepath.Dir(path)
	tmp, err := os.CreateTemp(folder, ".robots-*.txt")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails once it was renamed
	_, err = tmp.Write(fixed)
	// Chmod comes last: a change of owner clears some bits of the mode.
	err = errors.Join(err, keepOwner(tmp, info), tmp.Chmod(info.Mode()), tmp.Sync(), tmp.Close())
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	return syncFolder(folder)
}
