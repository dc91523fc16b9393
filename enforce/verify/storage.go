package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// Storage keeps the last good copy of each list and directory over a restart. A key that is not there gives an error that is
// [fs.ErrNotExist]. Caddy's certmagic.Storage is one.
type Storage interface {
	Load(ctx context.Context, key string) ([]byte, error)
	Store(ctx context.Context, key string, value []byte) error
}

// storageTimeout bounds each call: a storage that hangs must not stop lists from being read.
const storageTimeout = 30 * time.Second

// copyInfo describes a stored document.
type copyInfo struct {
	URL          string    `json:"url"`
	Read         time.Time `json:"read"` // when the document was last found to be current
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	MediaType    string    `json:"media_type,omitempty"`
	SHA256       string    `json:"sha256"` // of the document, in hexadecimal
}

func storageKey(address, what string) string {
	sum := sha256.Sum256([]byte(address))
	return "robots/verify/" + hex.EncodeToString(sum[:16]) + what
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// loadCopy returns the stored copy of address, nil without an error where there is none.
func loadCopy(ctx context.Context, s Storage, address string) (*copyInfo, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, storageTimeout)
	defer cancel()
	text, err := s.Load(ctx, storageKey(address, ".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	var info copyInfo
	if err := json.Unmarshal(text, &info); err != nil {
		return nil, nil, fmt.Errorf("the stored copy is damaged: %w", err)
	}
	body, err := s.Load(ctx, storageKey(address, ".txt"))
	if err != nil {
		return nil, nil, err
	}
	if info.URL != address || info.SHA256 != digest(body) || len(body) > maxDocument {
		return nil, nil, errors.New("the stored copy is damaged")
	}
	return &info, body, nil
}

// storeCopy stores info, and body unless it is nil: a document that was not modified is there already.
func storeCopy(ctx context.Context, s Storage, info *copyInfo, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, storageTimeout)
	defer cancel()
	if body != nil {
		if err := s.Store(ctx, storageKey(info.URL, ".txt"), body); err != nil {
			return err
		}
	}
	text, err := json.Marshal(info)
	if err != nil {
		return err
	}
	return s.Store(ctx, storageKey(info.URL, ".json"), text)
}
