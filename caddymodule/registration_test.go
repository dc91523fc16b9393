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

// Caddy's site finds the modules of a package in its source: the argument of
// RegisterModule must be `new(Type)` or `Type{}`, and each method CaddyModule must
// return a literal with a literal ID and `new(Type)`.
func TestModulesAreFoundInTheSource(t *testing.T) {
	names, _ := filepath.Glob("*.go")
	ofSteps, _ := filepath.Glob("steps/*/*.go")
	names = append(names, ofSteps...)
	var found []string
	registered := 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 1 && calls(call, "RegisterModule") {
				_, literal := call.Args[0].(*ast.CompositeLit)
				made, ok := call.Args[0].(*ast.CallExpr)
				if !literal && (!ok || !calls(made, "new")) {
					t.Errorf("%s: the argument of RegisterModule is neither a literal nor new(Type)", name)
				}
				registered++
			}
			return true
		})
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
					isNew = isNew || calls(n, "new")
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
	if len(found) < 5 || registered != len(found) {
		t.Errorf("%d modules are registered, and these are found: %s", registered, found)
	}
}

// calls reports whether a call is one of a function with that name, of any package.
func calls(c *ast.CallExpr, name string) bool {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name == name
	case *ast.SelectorExpr:
		return f.Sel.Name == name
	}
	return false
}
