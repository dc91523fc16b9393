package main

import (
	"io"
	"os"
	"strings"
	"testing"
)

// The program has the commands of `caddy robots`.
func TestCommand(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	args, stdout := os.Args, os.Stdout
	os.Args, os.Stdout = []string{"robots", "identify", "GPTBot/1.2"}, write
	main()
	os.Args, os.Stdout = args, stdout
	write.Close()
	if text, err := io.ReadAll(read); err != nil || !strings.Contains(string(text), "GPTBot") {
		t.Errorf("%v: %s", err, text)
	}
}
