package enforce

import "sync"

// maxCopies is how many good copies are held. They are the size of their
// files, at most robots.MaxSize.
const maxCopies = 1000

// Copies holds the last good robots.txt of origins for longer than a
// Policies lives, so that a source that fails while the configuration is
// reloaded does not open the site. It is safe for concurrent use; a nil
// Copies holds nothing.
type Copies struct {
	mu     sync.Mutex
	bodies map[Origin][]byte
}

// NewCopies returns an empty Copies.
func NewCopies() *Copies { return &Copies{bodies: make(map[Origin][]byte)} }

// put keeps body for origin. Where there are too many, any one of the others
// goes.
func (c *Copies) put(origin Origin, body []byte) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, held := c.bodies[origin]; !held && len(c.bodies) >= maxCopies {
		for other := range c.bodies {
			delete(c.bodies, other)
			break
		}
	}
	c.bodies[origin] = body
}

func (c *Copies) remove(origin Origin) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.bodies, origin)
}

func (c *Copies) get(origin Origin) ([]byte, bool) {
	if c == nil {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	body, ok := c.bodies[origin]
	return body, ok
}
