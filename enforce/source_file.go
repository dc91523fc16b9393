package enforce

import (
	"context"
	"io"
	"net/http"
	"os"

	"github.com/caddy-robots/caddy-robots/robots"
)

// File is a Source that reads a file of the file system.
type File struct {
	Path string
}

// Fetch reads the file. If the file is missing or can't be read, Fetch returns
// an error, not an empty file. So, unless Config.DenyFailed is set, the rules
// stay in force while an editor replaces the file.
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

// PerOrigin returns false: the file serves all origins.
func (File) PerOrigin() bool { return false }
