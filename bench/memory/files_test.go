package memory

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// realFiles returns the real robots.txt files of ROBOTS_CORPUS, the smallest
// one first, or else the project's examples.
func realFiles(t testing.TB) (files [][]byte) {
	t.Helper()
	folder := "../../testdata/lint"
	if corpus := os.Getenv("ROBOTS_CORPUS"); corpus != "" {
		folder = filepath.Join(corpus, "real-robots")
	} else {
		t.Log("ROBOTS_CORPUS is not set: only the examples of this repository are measured")
	}
	names, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no files in %s: %v", folder, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, text)
	}
	slices.SortFunc(files, func(a, b []byte) int { return len(a) - len(b) })
	return files
}

// vary returns a file like text with other paths: each lower-case letter of a
// path becomes another one. So many files have the structure of real ones, and
// nothing of their paths in common.
func vary(text []byte, seed uint64) []byte {
	letters := rand.New(rand.NewPCG(seed, 1)).Perm(26)
	text = fmt.Appendf(make([]byte, 0, len(text)+10), "%s\n# %d", text, seed)
	path := false
	for i, c := range text {
		switch {
		case c == '\n' || c == '\r':
			path = false
		case c == '/' || c == '*':
			path = true
		case path && 'a' <= c && c <= 'z':
			text[i] = 'a' + byte(letters[c-'a'])
		}
	}
	return text
}

// about returns the files whose size is near the given one; all if there is none.
func about(files [][]byte, size int) [][]byte {
	near := slices.DeleteFunc(slices.Clone(files), func(f []byte) bool { return len(f) < size*4/5 || len(f) > size*6/5 })
	if len(near) == 0 {
		return files
	}
	return near
}

func mean(files [][]byte) int {
	n := 0
	for _, f := range files {
		n += len(f)
	}
	return n / len(files)
}
