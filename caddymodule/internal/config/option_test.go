package config

import (
	"errors"
	"testing"
)

// An error about an option says so once.
func TestInOption(t *testing.T) {
	for text, want := range map[string]string{
		"it limits nothing":   "limit: it limits nothing",
		"limits are missing":  "limit: limits are missing",
		"limit: all is twice": "limit: all is twice",
		"limit all 0/1m":      "limit all 0/1m",
	} {
		if err := InOption("limit", InOption("limit", errors.New(text))); err.Error() != want {
			t.Errorf("%s; want %s", err, want)
		}
	}
	if err := InOption("limit", nil); err != nil {
		t.Error(err)
	}
}
