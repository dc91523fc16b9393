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
	slot, _ := fileReads.LoadOrStore(s.Path, make(chan struct{}, 1))
	reading := slot.(chan struct{})
	select {
	case reading <- struct{}{}:
	case <-ctx.Done():
		return judge.Response{}, fmt.Errorf("an earlier read of %s has not ended: %w", s.Path, ctx.Err())
	}
	resp := judge.Response{Status: http.StatusOK}
	var err error
	read := make(chan struct{})
	background.Go("robots.txt: a file", func() {
		defer close(read)
		defer func() { <-reading }()
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

// fileReads has a semaphore of one read for each path, a chan struct{}.
var fileReads sync.Map
