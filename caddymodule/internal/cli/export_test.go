package cli

import (
	"context"
	"io"
	"time"
)

// Watch runs `caddy robots status --watch` with any interval.
func Watch(ctx context.Context, every time.Duration, address string, w io.Writer) error {
	o := &statusOptions{every: every, limit: 10, watch: true}
	return o.repeat(ctx, address, w)
}
