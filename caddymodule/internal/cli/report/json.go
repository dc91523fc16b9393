package report

import (
	"bufio"
	"encoding/json"
	"io"

	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// JSON writes findings as JSON, one object per line: the fields of lint.Finding and
// the name of the file.
func JSON(w io.Writer, d *Document) error {
	buf := bufio.NewWriter(w)
	enc := NewEncoder(buf)
	for i := range d.Findings {
		err := enc.Encode(struct {
			File string `json:"file"`
			*lint.Finding
		}{d.Name, &d.Findings[i]})
		if err != nil {
			return err
		}
	}
	return buf.Flush()
}

// NewEncoder returns an encoder for JSON that does not escape < > &, because the output is not
// for HTML.
func NewEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}
