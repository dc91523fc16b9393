// Package localfile reads files that a configuration names.
package localfile

import (
	"fmt"
	"io"
	"os"
)

// Open opens a regular file. For a named pipe, a device or a folder it returns an error:
// to open a pipe would wait for a writer, and a device may never end.
func Open(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	return os.Open(name)
}

// MaxSize is the maximum size of a file for Read, in octets.
const MaxSize = 16 << 20

// Read reads a regular file.
func Read(name string) ([]byte, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err == nil && len(data) > MaxSize {
		err = fmt.Errorf("%s is larger than %d MiB", name, MaxSize>>20)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}
