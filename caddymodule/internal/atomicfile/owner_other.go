//go:build !unix

package atomicfile

import "os"

// keepOwner does nothing: these systems have no owners as Unix has them.
func keepOwner(*os.File, os.FileInfo) error { return nil }

// syncFolder does nothing: these systems can't sync a folder.
func syncFolder(string) error { return nil }
