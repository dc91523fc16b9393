package enforce

import (
	"testing"
)

func mustCompile(t *testing.T, r Settings) *compiledSettings {
	t.Helper()
	c, err := r.compile()
	if err != nil {
		t.Fatal(err)
	}
	return c
}
