//go:build !unix

package atomicfile

import "os"

// keepOwner does nothing where a new file belongs to whoever may write to its
// folder.
func keepOwner(*os.File, os.FileInfo) error { return nil }

// syncFolder does nothing where folders can't be synced.
func syncFolder(string) error { return nil }
