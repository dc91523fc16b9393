package cli

import (
	"bufio"
	"encoding/json"
	"io"
)

// WriteJSON writes a value as indented JSON.
func WriteJSON(w io.Writer, v any) error {
	enc := NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// NewEncoder returns an encoder for JSON that does not escape < > &, because the output is not
// for HTML.
func NewEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// WriteLines writes each value of a list as JSON, one a line.
func WriteLines[T any](w io.Writer, list []T) error {
	buf := bufio.NewWriter(w)
	enc := NewEncoder(buf)
	for i := range list {
		if err := enc.Encode(&list[i]); err != nil {
			return err
		}
	}
	return buf.Flush()
}
