// Package colour measures colours, for tests of web pages: the contrast of two
// colours, and how different they look to people with each kind of colour
// vision.
package colour

import (
	"fmt"
	"math"
	"strconv"
)

// RGB is a colour in linear light: red, green and blue, each from 0 to 1.
type RGB [3]float64

// Visions are the kinds of colour vision. Each is a matrix that converts a
// colour in linear RGB to the colour that a person with this vision sees. The
// values are from Machado, Oliveira and Fernandes, "A Physiologically-based
// Model for Simulation of Color Vision Deficiency" (2009), for severity 1.
var Visions = map[string][3]RGB{
	"typical":      {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{.152286, 1.052583, -.204868}, {.114503, .786281, .099216}, {-.003882, -.048116, 1.051998}},
	"deuteranopia": {{.367322, .860646, -.227968}, {.280085, .672501, .047413}, {-.011820, .042940, .968881}},
	"tritanopia":   {{1.255528, -.076749, -.178779}, {-.078411, .930809, .147602}, {.004733, .691367, .303900}},
}

// Parse parses a colour in the form #rrggbb (sRGB, IEC 61966-2-1).
func Parse(s string) (c RGB, err error) {
	if len(s) != len("#rrggbb") || s[0] != '#' {
		return c, fmt.Errorf("%q is not #rrggbb", s)
	}
	for i := range c {
		n, err := strconv.ParseUint(s[1+2*i:3+2*i], 16, 8)
		if err != nil {
			return c, err
		}
		if v := float64(n) / 255; v <= .04045 {
			c[i] = v / 12.92
		} else {
			c[i] = math.Pow((v+.055)/1.055, 2.4)
		}
	}
	return c, nil
}

// Seen returns the colour that a person with a kind of vision (see Visions)
// sees.
func (c RGB) Seen(by [3]RGB) (s RGB) {
	for i, row := range by {
		s[i] = min(max(row[0]*c[0]+row[1]*c[1]+row[2]*c[2], 0), 1)
	}
	return s
}

// Contrast returns the contrast ratio of two colours, from 1 to 21 (WCAG 2.2,
// section 1.4.3).
func (c RGB) Contrast(d RGB) float64 {
	a, b := c.light(), d.light()
	return max(a, b) / min(a, b)
}

func (c RGB) light() float64 { return .2126*c[0] + .7152*c[1] + .0722*c[2] + .05 }

// Distance returns the distance of two colours in OKLab, a perceptual colour
// space (Björn Ottosson, 2020). The distance of black and white is 1. Most
// people can just distinguish two colours at a distance of 0.02.
func (c RGB) Distance(d RGB) float64 {
	a, b := c.oklab(), d.oklab()
	return math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2])
}

func (c RGB) oklab() [3]float64 {
	l := math.Cbrt(.4122214708*c[0] + .5363325363*c[1] + .0514459929*c[2])
	m := math.Cbrt(.2119034982*c[0] + .6806995451*c[1] + .1073969566*c[2])
	s := math.Cbrt(.0883024619*c[0] + .2817188376*c[1] + .6299787005*c[2])
	return [3]float64{
		.2104542553*l + .7936177850*m - .0040720468*s,
		1.9779984951*l - 2.4285922050*m + .4505937099*s,
		.0259040371*l + .7827717662*m - .8086757660*s,
	}
}
