package suspect

import (
	"time"
)

// Mark is a signal in the form in which the servers of a fleet (several servers of
// the same sites) send it to each other.
type Mark struct {
	Visitor [16]byte  // HMAC of the visitor with the fleet's Key
	Signal  Signal    // the signal that the visitor raised
	Time    time.Time // when the visitor raised it
}

// markSize is the length of an encoded Mark, without its time.
const markSize = 17

// Encode returns the visitor and the signal in 17 octets. The time is not included.
func (m *Mark) Encode() string {
	return string(append(m.Visitor[:len(m.Visitor):len(m.Visitor)], byte(m.Signal)))
}

// DecodeMark is the inverse of Encode; at becomes the Time of the mark. ok is false
// if s is not an encoded mark.
func DecodeMark(s string, at time.Time) (m Mark, ok bool) {
	if len(s) != markSize || s[markSize-1] >= byte(signals) {
		return m, false
	}
	copy(m.Visitor[:], s)
	m.Signal, m.Time = Signal(s[markSize-1]), at
	return m, true
}

// maxWaiting is the number of marks that wait in the channel of Raised.
const maxWaiting = 1024

// fleetMarks are the marks of the last call of SetMarks.
type fleetMarks struct {
	version uint16                        // counts the calls of SetMarks; never 0
	marks   map[[16]byte]*[signals]uint32 // the time of each signal by visitor, in seconds since 1970; 0: none
}

// Share sets the key that Marks are made with, and makes the Watch send marks to the
// channel of Raised from now on. Without a key, it neither sends nor applies marks.
func (w *Watch) Share(k *Key) { w.key.Store(k) }

// Raised returns the channel with the signals that visitors raised here, for the
// other servers of the fleet. It is empty until Share is called. It holds 1,024
// marks; when it is full, further marks are dropped.
func (w *Watch) Raised() <-chan Mark { return w.marks }

// SetMarks gives the Watch all marks that the other servers have, in place of those of
// the last call. These signals count as if they had been raised here. SetMarks does
// not keep the slice.
func (w *Watch) SetMarks(marks []Mark) {
	h := &fleetMarks{version: 1, marks: make(map[[16]byte]*[signals]uint32, len(marks))}
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

// addFleet adds the signals that the fleet has of a visitor. It returns the last
// time of those that are new here, 0 if there is none. The caller holds the lock of
// e.
func (w *Watch) addFleet(e *entry, r *Request, fields fetchFields, h *fleetMarks, now uint32) (last uint32) {
	key := w.key.Load()
	if key == nil || len(h.marks) == 0 {
		return 0
	}
	times := h.marks[key.visitor(r, fields)]
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

// sendMark puts a signal into the channel of Raised. It does not block.
func (w *Watch) sendMark(r *Request, fields fetchFields, one Signal) {
	key := w.key.Load()
	if key == nil {
		return
	}
	select {
	case w.marks <- Mark{key.visitor(r, fields), one, r.Time}:
	default:
	}
}

// visitor returns the HMAC that stands for a visitor in a Mark.
func (k *Key) visitor(r *Request, fields fetchFields) (id [16]byte) {
	detail := uint64(r.Port) << 1
	if fields == allFetchFields {
		detail |= 1
	}
	sum := k.Sign(forClient, detail, Network(r.Client), r.Site, r.UserAgent)
	copy(id[:], sum[:])
	return id
}
