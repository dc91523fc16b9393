package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Block is a fenced block of a page.
type Block struct {
	Page     string // path
	Language string
	Text     string // without its indentation
}

var fenced = regexp.MustCompile("(?ms)^( *)```(\\w+)\n(.*?)^ *```$")

// Blocks returns the fenced blocks of a page that name a language.
func Blocks(page string) (blocks []Block, err error) {
	text, err := os.ReadFile(page)
	for _, m := range fenced.FindAllStringSubmatch(string(text), -1) {
		inner := strings.TrimPrefix(strings.ReplaceAll("\n"+m[3], "\n"+m[1], "\n"), "\n")
		blocks = append(blocks, Block{page, m[2], inner})
	}
	return blocks, err
}

// Snippet returns the first block of a page that contains a text, with parts of it
// replaced. Each part must be there. A file that is no page is one block.
func Snippet(page, contains string, oldnew ...string) (string, error) {
	blocks, err := Blocks(page)
	if filepath.Ext(page) != ".md" {
		text, readErr := os.ReadFile(page)
		blocks, err = []Block{{page, "", string(text)}}, readErr
	}
	if err != nil {
		return "", err
	}
	for _, block := range blocks {
		if !strings.Contains(block.Text, contains) {
			continue
		}
		for i := 0; i < len(oldnew); i += 2 {
			if !strings.Contains(block.Text, oldnew[i]) {
				return "", fmt.Errorf("%s does not contain %q:\n%s", page, oldnew[i], block.Text)
			}
		}
		return strings.NewReplacer(oldnew...).Replace(block.Text), nil
	}
	return "", fmt.Errorf("%s has no block with %q", page, contains)
}
