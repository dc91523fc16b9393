package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/page"
)

// pageFile is the file that --html names. It is opened before the logs are
// read, so that an error is reported at once.
type pageFile struct {
	file  *os.File
	fresh bool // openPage created it
}

// pageStart is the beginning of every report.
const pageStart = "<!DOCTYPE html>"

// openPage opens or creates the file. It returns an error for a file that is
// not a report, for example a log that was named by mistake.
func openPage(name string) (*pageFile, error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err == nil {
		return &pageFile{file, true}, nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("--html: %w", err)
	}
	if file, err = os.OpenFile(name, os.O_RDWR, 0); err != nil {
		return nil, fmt.Errorf("--html: %w", err)
	}
	start := make([]byte, len(pageStart))
	switch n, err := io.ReadFull(file, start); {
	case n == 0 && err == io.EOF, string(start[:n]) == pageStart:
		return &pageFile{file, false}, nil
	default:
		_ = file.Close()
		return nil, fmt.Errorf("--html would overwrite %s, which is not a report: use another file name, or delete the file first", name)
	}
}

// write writes the report and closes the file.
func (p *pageFile) write(r *audit.Report) error {
	_, err := p.file.Seek(0, io.SeekStart)
	err = errors.Join(err, p.file.Truncate(0))
	if err == nil {
		err = page.Write(p.file, r)
	}
	if err = errors.Join(err, p.file.Close()); err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	p.fresh = false
	return nil
}

// discard closes the file if nothing was written, and removes it if openPage
// created it.
func (p *pageFile) discard() {
	if p.file.Close() == nil && p.fresh {
		_ = os.Remove(p.file.Name())
	}
}
