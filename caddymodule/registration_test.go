package caddymodule

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
)

// Caddy's site finds the modules of a package in its source: each method
// CaddyModule must return a literal with a literal ID and `new(Type)`.
func TestModulesAreFoundInTheSource(t *testing.T) {
	names, _ := filepath.Glob("*.go")
	var found []string
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Name.Name != "CaddyModule" {
				continue
			}
			id, isNew := "", false
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.KeyValueExpr:
					if lit, ok := n.Value.(*ast.BasicLit); ok && n.Key.(*ast.Ident).Name == "ID" {
						id = strings.Trim(lit.Value, `"`)
					}
				case *ast.CallExpr:
					fun, ok := n.Fun.(*ast.Ident)
					isNew = isNew || ok && fun.Name == "new"
				}
				return true
			})
			if id == "" || !isNew {
				t.Errorf("%s: CaddyModule of %v has no literal ID or no new(Type)", name, f.Recv.List[0].Type)
			}
			found = append(found, id)
		}
	}
	for _, m := range caddy.Modules() {
		if strings.Contains(m, "robots") && !slices.Contains(found, m) {
			t.Errorf("the module %s is registered, and not found in the source (%s)", m, found)
		}
	}
	if len(found) < 5 {
		t.Errorf("only these modules are found: %s", found)
	}
}
