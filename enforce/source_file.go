package enforce

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"github.com/fsnotify/fsnotify"

	"github.com/caddy-robots/caddy-robots/robots"
)

// File is a Source that reads a file.
type File struct {
	Path string
}

// Fetch reads the file. A file that is missing or can't be read counts as a
// failure, not as a site without rules, so that an editor that replaces it
// does not open the site for a moment.
func (s File) Fetch(context.Context, Origin) (Response, error) {
	f, err := os.Open(s.Path)
	if err != nil {
		return Response{}, err
	}
	defer f.Close()
	body, err := io.ReadAll(io.LimitReader(f, robots.MaxSize+1))
	if err != nil {
		return Response{}, err
	}
	return Response{Status: http.StatusOK, Body: body}, nil
}

// PerOrigin is false: the file serves all origins.
func (File) PerOrigin() bool { return false }

// Watch calls changed whenever something happens in the file's folder that
// may have changed the file, until ctx ends. The folder is watched and not
// the file, because editors and deployments replace files by renaming, and
// Kubernetes swaps a symbolic link beside them. It returns once the watch
// stands; changed is called from another goroutine, one call at a time.
func (s File) Watch(ctx context.Context, changed func()) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watching %s: %w", s.Path, err)
	}
	if err := w.Add(filepath.Dir(s.Path)); err != nil {
		w.Close()
		return fmt.Errorf("watching %s: %w", s.Path, err)
	}
	go func() {
		defer w.Close()
		for {
			select {
			case <-ctx.Done():
				return
			case e, ok := <-w.Events:
				if !ok {
					return
				}
				if e.Op != fsnotify.Chmod {
					changed()
				}
			case _, ok := <-w.Errors:
				if !ok {
					return
				}
				changed() // events were lost: look for ourselves
			}
		}
	}()
	return nil
}
