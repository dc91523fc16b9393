package origins

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// Histories are limited in number and in octets.
func TestSizeOfHistoriesIsLimited(t *testing.T) {
	s := new(Histories)
	rules := func(size int) *History {
		p, err := judge.Settings{}.Rules(judge.Response{Status: 200, Body: bytes.Repeat([]byte("#"), size)})
		if err != nil {
			t.Fatal(err)
		}
		return &History{Current: p}
	}
	generation := s.begin()
	for i := range maxKept + 100 {
		s.put([]historyKey{{"", judge.Origin{Scheme: "https", Host: fmt.Sprint(i)}}}, generation, rules(10))
	}
	if len(s.values) != maxKept || s.octets != 10*maxKept {
		t.Errorf("%d histories of %d octets", len(s.values), s.octets)
	}
	for i := range 100 {
		s.put([]historyKey{{"", judge.Origin{Host: fmt.Sprint("large", i)}}}, generation, rules(400<<10))
	}
	if s.octets > maxHistoriesSize || s.octets < maxHistoriesSize/2 {
		t.Errorf("%d octets, want at most %d", s.octets, maxHistoriesSize)
	}
}
