package judge

import (
	"testing"
)

func mustCompile(t *testing.T, r Settings) *Compiled {
	t.Helper()
	c, err := r.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return c
}
