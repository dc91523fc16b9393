package document

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"
)

// Storage stores the last good copy of each document, so that a restart does not
// lose it. For a key that does not exist, Load must return an error for which
// errors.Is(err, [fs.ErrNotExist]) is true. A Storage must be safe for concurrent
// use. Caddy's certmagic.Storage implements it.
type Storage interface {
	Load(ctx context.Context, key string) ([]byte, error)
	Store(ctx context.Context, key string, value []byte) error
}

// storageTimeout is the timeout for loading or storing one copy. Without it, a
// storage that hangs would block all reads.
const storageTimeout = 30 * time.Second

// description describes a copy of a document, also in Storage.
type description struct {
	URL          string    `json:"url"`
	Read         time.Time `json:"read"` // when a read last found the document to be current
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	MediaType    string    `json:"media_type,omitempty"`
	SHA256       string    `json:"sha256"` // of the document, in hexadecimal digits
}

// key returns the key of a copy of address. suffix is .json for the description,
// .txt for the document.
func (r *Reader) key(address, suffix string) string {
	sum := sha256.Sum256([]byte(address))
	return path.Join(r.Folder, hex.EncodeToString(sum[:16])+suffix)
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// load returns the stored copy of address. If there is none, it returns no body
// and no error.
func (r *Reader) load(ctx context.Context, address string) (d description, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, storageTimeout)
	defer cancel()
	text, err := r.Storage.Load(ctx, r.key(address, ".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil, nil
	}
	if err != nil {
		return d, nil, err
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return d, nil, fmt.Errorf("the stored copy is damaged: %w", err)
	}
	if body, err = r.Storage.Load(ctx, r.key(address, ".txt")); err != nil {
		return d, nil, err
	}
	if d.URL != address || d.SHA256 != digest(body) || len(body) > MaxSize {
		return d, nil, errors.New("the stored copy is damaged: the document does not match its description")
	}
	return d, body, nil
}

// store stores a description, and the document unless body is nil. body is nil if
// the stored document is current already.
func (r *Reader) store(ctx context.Context, d *description, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, storageTimeout)
	defer cancel()
	if body != nil {
		if err := r.Storage.Store(ctx, r.key(d.URL, ".txt"), body); err != nil {
			return err
		}
	}
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return r.Storage.Store(ctx, r.key(d.URL, ".json"), text)
}
