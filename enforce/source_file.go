package enforce

import (
	"context"
	"io"
	"net/http"
	"os"

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
