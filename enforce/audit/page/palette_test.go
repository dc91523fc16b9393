package page

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// rgb is a colour in linear light.
type rgb [3]float64

// vision is what a kind of colour vision makes of a colour. The matrices are
// those of Machado, Oliveira and Fernandes, "A Physiologically-based Model for
// Simulation of Color Vision Deficiency" (2009), for severity 1.
var vision = map[string][3]rgb{
	"typical":      {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{.152286, 1.052583, -.204868}, {.114503, .786281, .099216}, {-.003882, -.048116, 1.051998}},
	"deuteranopia": {{.367322, .860646, -.227968}, {.280085, .672501, .047413}, {-.011820, .042940, .968881}},
	"tritanopia":   {{1.255528, -.076749, -.178779}, {-.078411, .930809, .147602}, {.004733, .691367, .303900}},
}

// parseRGB reads #rrggbb (sRGB, IEC 61966-2-1).
func parseRGB(t *testing.T, s string) (c rgb) {
	for i := range c {
		n, err := strconv.ParseUint(s[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		if v := float64(n) / 255; v <= .04045 {
			c[i] = v / 12.92
		} else {
			c[i] = math.Pow((v+.055)/1.055, 2.4)
		}
	}
	return c
}

// seen returns the colour as a kind of vision sees it.
func (c rgb) seen(by [3]rgb) (s rgb) {
	for i, row := range by {
		s[i] = min(max(row[0]*c[0]+row[1]*c[1]+row[2]*c[2], 0), 1)
	}
	return s
}

// contrast is the ratio that WCAG 2.2 defines.
func (c rgb) contrast(d rgb) float64 {
	light := func(c rgb) float64 { return .2126*c[0] + .7152*c[1] + .0722*c[2] + .05 }
	a, b := light(c), light(d)
	return max(a, b) / min(a, b)
}

// distance is that in OKLab, Björn Ottosson's perceptual space: black and white
// are 1 apart, and colours that are 0.02 apart can just be told apart.
func (c rgb) distance(d rgb) float64 {
	lab := func(c rgb) (lab [3]float64) {
		l := math.Cbrt(.4122214708*c[0] + .5363325363*c[1] + .0514459929*c[2])
		m := math.Cbrt(.2119034982*c[0] + .6806995451*c[1] + .1073969566*c[2])
		s := math.Cbrt(.0883024619*c[0] + .2817188376*c[1] + .6299787005*c[2])
		return [3]float64{
			.2104542553*l + .7936177850*m - .0040720468*s,
			1.9779984951*l - 2.4285922050*m + .4505937099*s,
			.0259040371*l + .7827717662*m - .8086757660*s,
		}
	}
	a, b := lab(c), lab(d)
	return math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2])
}

// The colours of marks stand out from the ground, and can be told apart by
// readers with any kind of colour vision, in light and in dark. Text can be
// read.
func TestPalette(t *testing.T) {
	schemes := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllStringSubmatch(style, -1)
	if len(schemes) != 2 {
		t.Fatalf("%d colour schemes", len(schemes))
	}
	for i, name := range []string{"light", "dark"} {
		colours := make(map[string]rgb)
		for _, m := range regexp.MustCompile(`--(\w+): (#[0-9a-f]{6});`).FindAllStringSubmatch(schemes[i][1], -1) {
			colours[m[1]] = parseRGB(t, m[2])
		}
		for colour, least := range map[string]float64{
			"ink": 7, "soft": 4.5, "link": 4.5, // WCAG 2.2, 1.4.3 and 1.4.6
			"pass": 3, "deny": 3, "throttle": 3, "people": 3, // 1.4.11
		} {
			for _, ground := range []string{"ground", "raised", "alert"} {
				if strings.Contains("pass deny throttle people", colour) && ground != "ground" {
					continue
				}
				if got := colours[colour].contrast(colours[ground]); got < least {
					t.Errorf("%s: contrast of %s with %s is %.2f, below %v", name, colour, ground, got, least)
				}
			}
		}
		marks := []string{"pass", "deny", "throttle", "people"}
		for kind, matrix := range vision {
			for i, a := range marks {
				for _, b := range marks[i+1:] {
					if got := colours[a].seen(matrix).distance(colours[b].seen(matrix)); got < 0.1 {
						t.Errorf("%s: with %s, %s and %s are only %.3f apart", name, kind, a, b, got)
					}
				}
			}
		}
	}
}
