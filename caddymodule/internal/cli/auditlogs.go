package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

// openLogs opens the logs that the arguments (files and globs) name. It also
// returns their total size in octets, -1 if it is unknown.
func openLogs(args []string, stdin io.Reader) (files []logfile.File, size int64, err error) {
	seen := map[string]bool{}
	for _, arg := range args {
		if arg == "-" {
			if seen["-"] {
				return nil, 0, errSeveralStdin
			}
			seen["-"], size = true, -1
			files = append(files, logfile.File{
				Name: "standard input", Once: true,
				Open: func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil },
			})
			continue
		}
		names, err := logNames(arg)
		if err != nil {
			return nil, 0, err
		}
		for _, name := range names {
			if seen[name] {
				continue
			}
			seen[name] = true
			info, err := os.Stat(name)
			switch {
			case err != nil:
				return nil, 0, err
			case info.IsDir():
				return nil, 0, fmt.Errorf("%s is a folder: name the logs in it, for example %s", name, filepath.Join(name, "*.log*"))
			}
			if size >= 0 {
				size += info.Size()
			}
			files = append(files, logfile.File{
				Name: name, Once: !info.Mode().IsRegular(),
				Open: func() (io.ReadCloser, error) { return os.Open(name) },
			})
		}
	}
	return files, size, nil
}

// logNames returns the files that an argument names: the argument itself, or
// the files that a glob matches.
func logNames(arg string) ([]string, error) {
	if _, err := os.Lstat(arg); err == nil || !strings.ContainsAny(arg, "*?[") {
		return []string{arg}, nil
	}
	names, err := filepath.Glob(arg)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", arg, err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s matches no file", arg)
	}
	return names, nil
}

// progress shows the progress of an audit, only on a terminal and only if the
// audit takes long.
type progress struct {
	w     io.Writer
	total int64 // size of the logs in octets; -1: not known
	begin time.Time
	next  time.Time // of the next update
	off   bool
}

const (
	progressAfter = 2 * time.Second // before the first update
	progressEach  = time.Second / 4 // between updates
)

func newProgress(w io.Writer, total int64) *progress {
	now := time.Now()
	return &progress{w: w, total: total, begin: now, next: now.Add(progressAfter), off: !isTerminal(w)}
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// show shows how far the audit is.
func (p *progress) show(at audit.Progress) {
	now := time.Now()
	if p.off || now.Before(p.next) {
		return
	}
	p.next = now.Add(progressEach)
	fmt.Fprintf(p.w, "\r\x1b[K%s", progressLine(at, now.Sub(p.begin), p.total))
}

// progressLine returns the rate and, if the size is known, the remaining time.
func progressLine(at audit.Progress, passed time.Duration, total int64) string {
	line := fmt.Sprintf("%d lines, %.0f lines/s", at.Lines, float64(at.Lines)/max(passed.Seconds(), 0.001))
	if total > 0 && at.Read > 0 {
		share := min(float64(at.Read)/float64(total), 1)
		left := time.Duration(float64(passed) * (1 - share) / share)
		line += fmt.Sprintf(", %.0f %%, %s left", 100*share, left.Round(time.Second))
	}
	return line
}

// clearProgress removes the progress line from the terminal.
func clearProgress(w io.Writer) {
	if isTerminal(w) {
		fmt.Fprint(w, "\r\x1b[K")
	}
}
