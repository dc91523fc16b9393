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

// Storage stores the last good copy of each list and directory, so that a restart does not lose it. For a key that does not exist, Load must
// return an error for which errors.Is(err, [fs.ErrNotExist]) is true. A Storage must be safe for concurrent use. Caddy's certmagic.Storage
// implements it.
type Storage interface {
	Load(ctx context.Context, key string) ([]byte, error)
	Store(ctx context.Context, key string, value []byte) error
}

// storageTimeout is the timeout for loading or storing one copy. Without it, a storage that hangs would block all reads.
const storageTimeout = 30 * time.Second

// copyInfo describes a stored document.
type copyInfo struct {
	URL          string    `json:"url"`
	Read         time.Time `json:"read"` // when a read last found the document to be current
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	MediaType    string    `json:"media_type,omitempty"`
	SHA256       string    `json:"sha256"` // of the document, in hexadecimal digits
}

// storageKey returns the key of a copy of address. what is the suffix: .json for the copyInfo, .txt for the document.
func storageKey(address, what string) string {
	sum := sha256.Sum256([]byte(address))
	return "robots/verify/" + hex.EncodeToString(sum[:16]) + what
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// loadCopy returns the stored copy of address. If there is none, it returns nil and no error.
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
		return nil, nil, errors.New("the stored copy is damaged: the document does not match its description")
	}
	return &info, body, nil
}

// storeCopy stores info, and body unless it is nil. body is nil if the stored document is current already.
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
