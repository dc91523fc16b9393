package evidence

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/mail"
	"strconv"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/words"
)

// maxPayload is the largest size of an item of evidence, by the schema of X-ARF.
const maxPayload = 5 << 20

// WriteXARF writes a report in the form of X-ARF 4 (https://xarf.org; category connection, type scraping) for each address
// with disallowed requests, but not for those that are not the crawler's: a line of JSON each.
func (v *Evidence) WriteXARF(w io.Writer, by *mail.Address) error {
	of := make(map[string][]Request)
	for _, r := range v.Requests {
		of[r.Client] = append(of[r.Client], r)
	}
	for _, a := range v.Addresses {
		if requests := of[a.Address]; len(requests) > 0 && a.State != refuted {
			if err := json.NewEncoder(w).Encode(v.xarf(a, requests, by)); err != nil {
				return err
			}
		}
	}
	return nil
}

// xarf returns the report about one address.
func (v *Evidence) xarf(a *Address, requests []Request, by *mail.Address) map[string]any {
	first, last := &requests[0], &requests[len(requests)-1]
	var lines bytes.Buffer
	for i := range requests {
		text, _ := json.Marshal(&requests[i]) // texts and numbers can't fail
		if lines.Len()+len(text) >= maxPayload {
			break
		}
		lines.Write(append(text, '\n'))
	}
	contact := map[string]string{"org": by.Name, "contact": by.Address, "domain": by.Address[strings.LastIndexByte(by.Address, '@')+1:]}
	var id [16]byte
	_, _ = rand.Read(id[:])                         // it never fails
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // RFC 9562, version 4
	x := map[string]any{
		"xarf_version": "4.0.0", "report_id": fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:]),
		"timestamp": first.Time, "reporter": contact, "sender": contact, "source_identifier": a.Address,
		"category": "connection", "type": "scraping", "evidence_source": "traffic_analysis",
		"protocol": map[bool]string{true: "udp", false: "tcp"}[first.quic], "first_seen": first.Time, "last_seen": last.Time,
		"total_requests": a.Disallowed, "user_agent": first.Agent, "bot_signature": v.Name, "respects_robots_txt": false,
		"description": fmt.Sprintf("After robots.txt had been read, this address sent %s as %s that the file disallowed. Address: %s.",
			words.Plural(a.Disallowed, "request", "requests"), v.Name, a.StateText()),
		"evidence": []map[string]any{{
			"content_type": "application/x-ndjson", "description": "the requests, with the line of robots.txt", "payload": lines.Bytes(),
			"hash": fmt.Sprintf("sha256:%x", sha256.Sum256(lines.Bytes())), "size": lines.Len(),
		}},
	}
	if port, err := strconv.ParseUint(first.Port, 10, 16); err == nil && port > 0 {
		x["source_port"] = port
	}
	return x
}

// StateText returns the state of the address in words.
func (a *Address) StateText() string {
	return map[string]string{verified: "confirmed as the crawler's", refuted: "not the crawler's", "unverified": "not confirmed",
		"none": "not checked"}[a.State]
}
