package dashboard

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// palettes returns the colours of the light and the dark mode by name.
func palettes(t *testing.T) map[string]map[string][3]float64 {
	t.Helper()
	light, dark, found := strings.Cut(text("style.css"), "prefers-color-scheme: dark")
	if !found {
		t.Fatal("no dark mode")
	}
	all := make(map[string]map[string][3]float64)
	for mode, part := range map[string]string{"light": light, "dark": dark} {
		colours := make(map[string][3]float64)
		for _, m := range regexp.MustCompile(`--([\w-]+): #([0-9a-f]{6});`).FindAllStringSubmatch(part, -1) {
			n, err := strconv.ParseUint(m[2], 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			colours[m[1]] = [3]float64{linear(n >> 16), linear(n >> 8), linear(n)}
		}
		all[mode] = colours
	}
	return all
}

// linear returns the light of the lowest octet of n (sRGB, IEC 61966-2-1).
func linear(n uint64) float64 {
	c := float64(n&0xff) / 255
	if c <= .04045 {
		return c / 12.92
	}
	return math.Pow((c+.055)/1.055, 2.4)
}

// contrast is that of WCAG 2.2, section 1.4.3.
func contrast(a, b [3]float64) float64 {
	y := func(c [3]float64) float64 { return .2126*c[0] + .7152*c[1] + .0722*c[2] }
	return (max(y(a), y(b)) + .05) / (min(y(a), y(b)) + .05)
}

// Text has a contrast of 4.5 to what it stands on, marks of 3 (WCAG 2.2,
// sections 1.4.3 and 1.4.11), in both modes.
func TestContrast(t *testing.T) {
	for mode, c := range palettes(t) {
		check := func(name, on string, least float64) {
			a, known := c[name]
			b, knownToo := c[on]
			if !known || !knownToo {
				t.Errorf("%s: there is no %s or %s", mode, name, on)
			} else if got := contrast(a, b); got < least {
				t.Errorf("%s: %s on %s has a contrast of %.2f, want %.1f", mode, name, on, got, least)
			}
		}
		for _, on := range []string{"bg", "panel", "faint", "hover"} {
			for _, ink := range []string{"ink", "muted", "link"} {
				check(ink, on, 4.5)
			}
		}
		for _, on := range []string{"bg", "panel", "deny-wash"} {
			check("deny-ink", on, 4.5)
		}
		for _, on := range []string{"bg", "panel", "throttle-wash"} {
			check("throttle-ink", on, 4.5)
		}
		check("ink", "deny-wash", 4.5)
		check("ink", "throttle-wash", 4.5)
		check("good", "panel", 4.5)
		for _, mark := range marks {
			check(mark, "panel", 3)
		}
	}
}

// marks are the colours of data.
var marks = []string{"pass", "deny", "throttle", "people"}

// deficiencies are simulations of colour vision in linear RGB (Machado,
// Oliveira and Fernandes 2009, severity 1.0).
var deficiencies = map[string][3][3]float64{
	"normal":       {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{.152286, 1.052583, -.204868}, {.114503, .786281, .099216}, {-.003882, -.048116, 1.051998}},
	"deuteranopia": {{.367322, .860646, -.227968}, {.280085, .672501, .047413}, {-.011820, .042940, .968881}},
	"tritanopia":   {{1.255528, -.076749, -.178779}, {-.078411, .930809, .147602}, {.004733, .691367, .303900}},
}

// oklab returns a colour in the space OKLab (Ottosson 2020).
func oklab(c [3]float64) [3]float64 {
	l := math.Cbrt(.4122214708*c[0] + .5363325363*c[1] + .0514459929*c[2])
	m := math.Cbrt(.2119034982*c[0] + .6806995451*c[1] + .1073969566*c[2])
	s := math.Cbrt(.0883024619*c[0] + .2817188376*c[1] + .6299787005*c[2])
	return [3]float64{
		.2104542553*l + .7936177850*m - .0040720468*s,
		1.9779984951*l - 2.4285922050*m + .4505937099*s,
		.0259040371*l + .7827717662*m - .8086757660*s,
	}
}

// The colours of data stay apart whatever colours someone sees: by 0.08 in
// OKLab, four times what is just noticed.
func TestColoursStayApart(t *testing.T) {
	for mode, colours := range palettes(t) {
		for _, name := range slices.Sorted(maps.Keys(deficiencies)) {
			seen := func(mark string) (c [3]float64) {
				for i, row := range deficiencies[name] {
					for j, f := range row {
						c[i] += f * colours[mark][j]
					}
					c[i] = min(max(c[i], 0), 1)
				}
				return oklab(c)
			}
			for i, a := range marks {
				for _, b := range marks[i+1:] {
					x, y := seen(a), seen(b)
					if d := math.Hypot(math.Hypot(x[0]-y[0], x[1]-y[1]), x[2]-y[2]); d < .08 {
						t.Errorf("%s, %s: %s and %s are %.3f apart", mode, name, a, b, d)
					}
				}
			}
		}
	}
}
