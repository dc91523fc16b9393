package caddymodule

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// Bounds of a crawler's body that is read before the request takes a turn. They have
// room for a form, and all of them together take 4 MiB of memory at most. No client gets
// more than the bodies of one part.
const (
	maxBody      = 64 << 10
	bodyTime     = 2 * time.Second
	bodyParts    = 8
	bodiesOfPart = 8
)

// bodySeed is a random seed, so that clients can't choose addresses that share a part with
// a certain one.
var bodySeed = throttle.Key{rand.Uint64(), rand.Uint64()}

var (
	bodyTooLong = newAnswer(http.StatusRequestEntityTooLarge, "Here, the body of a crawler's request may have 64 KiB.")
	bodyTooSlow = newAnswer(http.StatusRequestTimeout, "Here, the body of a crawler's request must arrive within two seconds.")
)

// readBody reads the body of a crawler's request that is let through, if requests in
// flight are counted for it: a client must not hold a turn by a body that it does not
// send. If the body can't be read, the request is refused. The next handler gets what
// was read. People's bodies are never read.
func (x *exchange) readBody(d *judge.Decision) {
	if d.Action != judge.Pass || d.Monitored || d.Reason == judge.Person {
		return
	}
	var (
		why    judge.Reason
		line   *judge.Place
		isHeld bool
	)
	for i := 0; !isHeld && i < len(x.handler.steps.holders); i++ {
		why, line, isHeld = x.handler.steps.holders[i].Holds(&x.Exchange)
	}
	if !isHeld {
		return
	}
	body, refusal := x.receive(x.w)
	if refusal == nil {
		x.HTTP.Body, x.HTTP.ContentLength, x.HTTP.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
		if len(body) == 0 {
			x.HTTP.Body = http.NoBody
		}
		return
	}
	if x.HTTP.ProtoMajor == 1 { // in HTTP/3 the field would be an error (RFC 9114, section 4.2)
		x.w.Header()["Connection"] = []string{"close"}
	}
	x.unread = refusal
	d.Refuse(why, line, 0)
}

// receive reads a body. It returns an answer that refuses the request if the body is
// too long, or does not arrive in time.
func (x *exchange) receive(w http.ResponseWriter) (body []byte, refusal *answer) {
	r := x.HTTP
	if r.ContentLength > maxBody {
		return nil, &bodyTooLong
	}
	deadline := http.NewResponseController(w)
	_ = deadline.SetReadDeadline(time.Now().Add(bodyTime)) // fails only outside of a server
	first := make([]byte, 1)
	_, err := io.ReadFull(r.Body, first)
	if err == nil { // in HTTP/3, only this tells a body from none
		part := &x.handler.bodies[bodySeed.Client(x.Request.Addr())[0]%bodyParts]
		defer part.Add(-1)
		if part.Add(1) > bodiesOfPart {
			return nil, &bodyTooSlow
		}
		body, err = io.ReadAll(io.LimitReader(io.MultiReader(bytes.NewReader(first), r.Body), maxBody+1))
	}
	switch {
	case len(body) > maxBody:
		return nil, &bodyTooLong
	case err != nil && err != io.EOF: // the deadline stays, for what the server does with the rest
		return nil, &bodyTooSlow
	}
	_ = deadline.SetReadDeadline(time.Time{})
	return body, nil
}
