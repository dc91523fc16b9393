package colour

import (
	"math"
	"testing"
)

func TestColours(t *testing.T) {
	parse := func(s string) RGB {
		t.Helper()
		c, err := Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	black, white := parse("#000000"), parse("#ffffff")
	if got := black.Contrast(white); math.Abs(got-21) > 1e-9 {
		t.Errorf("contrast of black and white is %v, want 21", got)
	}
	if got := parse("#767676").Contrast(white); got < 4.5 || got > 4.6 { // the lightest grey that WCAG allows for text
		t.Errorf("contrast of #767676 and white: %v", got)
	}
	if got := black.Distance(white); math.Abs(got-1) > 1e-3 {
		t.Errorf("distance of black and white: %v, want 1", got)
	}
	red, green := parse("#b04000"), parse("#407000")
	if apart, near := red.Distance(green), red.Seen(Visions["deuteranopia"]).Distance(green.Seen(Visions["deuteranopia"])); near > apart/2 {
		t.Errorf("red and green are %.3f apart, and %.3f without green cones", apart, near)
	}
	for _, s := range []string{"", "#12345", "1234567", "#12345g", "#1234567"} {
		if _, err := Parse(s); err == nil {
			t.Errorf("Parse(%q) gives no error", s)
		}
	}
}
