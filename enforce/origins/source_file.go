package origins

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/background"
	"github.com/caddy-robots/caddy-robots/internal/localfile"
	"github.com/caddy-robots/caddy-robots/robots"
)

// File is a Source that reads a file of the file system.
type File struct {
	Path string
}

// Fetch reads the file. If the file is missing or can't be read, or is not a
// regular file, Fetch returns an error, not an empty file. So, unless
// Config.DenyFailed is set, the rules stay in force while an editor replaces the
// file.
//
// No read of a file can be ended: on a file system that does not answer, it goes
// on after ctx has ended. Until it ends, no other read of the same path begins.
func (s File) Fetch(ctx context.Context, _ judge.Origin) (judge.Response, error) {
	if err := fileReads.begin(ctx, s.Path); err != nil {
		return judge.Response{}, err
	}
	resp := judge.Response{Status: http.StatusOK}
	var err error
	read := make(chan struct{})
	background.Go("robots.txt: a file", func() {
		defer close(read)
		defer fileReads.end(s.Path)
		err = background.Try("robots.txt: a file", func() error { return s.read(&resp) })
	})
	select {
	case <-read:
		return resp, err
	case <-ctx.Done():
		return judge.Response{}, fmt.Errorf("reading %s takes too long: %w", s.Path, ctx.Err())
	}
}

func (s File) read(resp *judge.Response) error {
	f, err := localfile.Open(s.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	body := bytes.NewBuffer(make([]byte, 0, min(info.Size(), robots.MaxSize)+bytes.MinRead))
	if _, err = body.ReadFrom(io.LimitReader(f, robots.MaxSize+1)); err != nil {
		return err
	}
	if info, err = f.Stat(); err != nil {
		return err
	}
	resp.Body, resp.File, resp.Quiet = body.Bytes(), info, time.Since(info.ModTime()) >= quietFile
	return nil
}

// PerOrigin returns false: the file serves all origins.
func (File) PerOrigin() bool { return false }

// fileReads are the reads of files that have not ended, at most one of each path.
var fileReads = pathReads{ended: make(map[string]chan struct{})}

type pathReads struct {
	mu    sync.Mutex
	ended map[string]chan struct{} // closed when the read has ended
}

// begin waits until no read of path is under way, or until ctx ends.
func (r *pathReads) begin(ctx context.Context, path string) error {
	for {
		r.mu.Lock()
		ended := r.ended[path]
		if ended == nil {
			r.ended[path] = make(chan struct{})
			r.mu.Unlock()
			return nil
		}
		r.mu.Unlock()
		select {
		case <-ended:
		case <-ctx.Done():
			return fmt.Errorf("an earlier read of %s has not ended: %w", path, ctx.Err())
		}
	}
}

func (r *pathReads) end(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.ended[path])
	delete(r.ended, path)
}
