package suspect

import (
	"encoding/binary"
	"net/netip"
	"time"
)

// Mark is a signal as the servers of a fleet tell each other of it. It names
// the visitor by a hash that has the fleet's key.
type Mark struct {
	Visitor [16]byte
	Signal  Signal
	Time    time.Time
}

// markSize is the length of an encoded Mark, without its time.
const markSize = 17

// Encode returns the mark without its time.
func (m *Mark) Encode() string {
	return string(append(m.Visitor[:len(m.Visitor):len(m.Visitor)], byte(m.Signal)))
}

// DecodeMark is the inverse of Encode. ok is false for what is no mark.
func DecodeMark(s string, at time.Time) (m Mark, ok bool) {
	if len(s) != markSize || s[markSize-1] >= byte(signals) {
		return m, false
	}
	copy(m.Visitor[:], s)
	m.Signal, m.Time = Signal(s[markSize-1]), at
	return m, true
}

// maxWaiting is how many marks wait for the fleet to be told. Beyond, they are
// dropped.
const maxWaiting = 1024

// heard is what the fleet said last.
type heard struct {
	version uint16 // of the process, from 1
	marks   map[[16]byte]*[signals]uint32
}

// SetKey sets the key by which visitors are named to the fleet. It may be
// called while requests are on their way.
func (w *Watch) SetKey(k *Key) { w.key.Store(k) }

// Share has signals of visitors sent to Raised from now on.
func (w *Watch) Share() { w.sharing.Store(true) }

// Raised has the signals that the fleet should be told of, once Share was
// called. Those that nobody takes in time are dropped.
func (w *Watch) Raised() <-chan Mark { return w.raised }

// Hear replaces what other servers say by marks. They count as if the requests
// had come here.
func (w *Watch) Hear(marks []Mark) {
	h := &heard{version: 1, marks: make(map[[16]byte]*[signals]uint32, len(marks))}
	if last := w.fleet.Load(); last != nil {
		h.version = max(1, last.version+1)
	}
	for _, m := range marks {
		times := h.marks[m.Visitor]
		if times == nil {
			times = new([signals]uint32)
			h.marks[m.Visitor] = times
		}
		times[m.Signal] = max(times[m.Signal], uint32(m.Time.Unix()))
	}
	w.fleet.Store(h)
}

// hear adds what the fleet says about a visitor, and returns when the last of
// the signals that are new here was raised, 0 if there is none. The caller
// holds the lock of e.
func (w *Watch) hear(e *entry, r *Request, how shape, h *heard, now uint32) (last uint32) {
	key := w.key.Load()
	if key == nil || len(h.marks) == 0 {
		return 0
	}
	times := h.marks[key.visitor(r.Site, r.Port, r.Client, r.UserAgent, how)]
	if times == nil {
		return 0
	}
	for one, at := range times {
		if at = min(at, now); at == 0 || now-at > rememberSeconds || e.at[one] != 0 {
			continue
		}
		e.at[one], e.n[one] = minute(at), 1
		e.set |= 1 << one
		last = max(last, at)
	}
	return last
}

// tell has the fleet told of a signal. It does not block.
func (w *Watch) tell(r *Request, how shape, one Signal) {
	key := w.key.Load()
	if key == nil || !w.sharing.Load() {
		return
	}
	select {
	case w.raised <- Mark{key.visitor(r.Site, r.Port, r.Client, r.UserAgent, how), one, r.Time}:
	default:
	}
}

// visitor names a visitor to the fleet.
func (k *Key) visitor(site string, port uint16, client netip.Addr, userAgent string, how shape) (id [16]byte) {
	detail := uint64(port) << 1
	if how == full {
		detail |= 1
	}
	sum := k.sign(forClient, detail, Network(client), site, userAgent)
	binary.BigEndian.PutUint64(id[:], binary.BigEndian.Uint64(sum[:]))
	binary.BigEndian.PutUint64(id[8:], binary.BigEndian.Uint64(sum[8:]))
	return id
}
