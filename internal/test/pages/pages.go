// Package pages keeps the parts of pages in docs that are generated from the code.
// Such a part is between the lines
//
//	<!-- generated: WORDS -->
//	<!-- end -->
//
// The texts are mostly doc comments, so that each fact has one owner.
package pages

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var part = regexp.MustCompile(`(?s)(<!-- generated: ([^>]*) -->\n).*?(<!-- end -->)`)

// Check compares the generated parts of a page with what text returns for the words
// of each, "" if another test has this part. With update, it writes them.
func Check(t testing.TB, page string, update bool, text func(words []string) string) {
	t.Helper()
	was, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !part.Match(was) {
		t.Errorf("%s has no generated part", page)
	}
	is := part.ReplaceAllStringFunc(string(was), func(old string) string {
		m := part.FindStringSubmatch(old)
		made := strings.TrimSpace(text(strings.Fields(m[2])))
		if made == "" {
			return old
		}
		return m[1] + "\n" + made + "\n\n" + m[3]
	})
	switch {
	case is == string(was):
	case !update:
		t.Errorf("%s is out of date: run the tests of this package with -update. The first difference: %s", page, difference(string(was), is))
	default:
		if err := os.WriteFile(page, []byte(is), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// difference returns the first line of is that was does not have.
func difference(was, is string) string {
	for line := range strings.Lines(is) {
		if !strings.Contains(was, line) {
			return strings.TrimSpace(line)
		}
	}
	return "it is shorter"
}

// Comments has doc comments by the names that they are about: Type, Type.Field,
// Type.Method, function, constant or variable.
type Comments map[string]string

// Read adds the comments of the Go files of a folder.
func (c Comments) Read(t testing.TB, folder string) {
	t.Helper()
	names, _ := filepath.Glob(filepath.Join(folder, "*.go"))
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		var decl *ast.GenDecl
		var typ string
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				name := n.Name.Name
				if n.Recv != nil {
					name = strings.TrimPrefix(types.ExprString(n.Recv.List[0].Type), "*") + "." + name
				}
				c[name] = n.Doc.Text()
				return false
			case *ast.GenDecl:
				decl = n
			case *ast.TypeSpec:
				typ = n.Name.Name
				c[typ] = cmp.Or(n.Doc.Text(), decl.Doc.Text())
			case *ast.Field:
				c.add(typ+".", n.Names, n.Doc, n.Comment)
			case *ast.ValueSpec:
				c.add("", n.Names, n.Doc, n.Comment)
			}
			return true
		})
	}
}

// add adds the comments above and beside names.
func (c Comments) add(prefix string, names []*ast.Ident, doc, beside *ast.CommentGroup) {
	for _, name := range names {
		c[prefix+name.Name] = doc.Text() + beside.Text()
	}
}

// Prose returns the paragraphs of a comment, each in one line, and its code, which
// is indented by a tab.
func Prose(comment string) (paragraphs []string, code string) {
	for _, block := range strings.Split(strings.TrimSpace(comment), "\n\n") {
		if strings.HasPrefix(block, "\t") {
			code = strings.TrimPrefix(strings.ReplaceAll("\n"+block, "\n\t", "\n"), "\n")
		} else if block != "" {
			paragraphs = append(paragraphs, strings.Join(strings.Fields(block), " "))
		}
	}
	return paragraphs, code
}

// Cell returns a comment as a cell of a table.
func Cell(comment string) string {
	paragraphs, _ := Prose(comment)
	return strings.ReplaceAll(strings.Join(paragraphs, "<br>"), "|", `\|`)
}
