package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/atomicfile"
)

// rewrite replaces a file by its corrected content, at once. A file that needs
// no correction is not touched.
func rewrite(name string, old, fixed []byte) error {
	if string(old) == string(fixed) {
		return nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("--write can't write %s back: it is not a regular file", name)
	}
	return atomicfile.Write(name, info.Mode(), func(w io.Writer) error {
		_, err := w.Write(fixed)
		return err
	})
}
