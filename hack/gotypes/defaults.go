package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"reflect"
	"strings"
)

// Defaults stand in comments of the source, as `// +default="TCP"`; reflection does not see them.
// Those that name a Go constant (`+default=ref(…)`) do not reach a CRD, so they are not taken.

type defaults struct {
	sources map[string]map[string]json.RawMessage // package path → "Type.Field" → value
	found   map[string]map[string]json.RawMessage // our name of a type → JSON name → value
}

func newDefaults() *defaults {
	return &defaults{
		sources: map[string]map[string]json.RawMessage{},
		found:   map[string]map[string]json.RawMessage{},
	}
}

func (d *defaults) note(typ reflect.Type, field reflect.StructField, owner, name string) {
	if !strings.HasPrefix(typ.PkgPath(), "k8s.io/") {
		return
	}
	value, ok := d.source(typ.PkgPath())[typ.Name()+"."+field.Name]
	if !ok {
		return
	}
	if d.found[owner] == nil {
		d.found[owner] = map[string]json.RawMessage{}
	}
	d.found[owner][name] = value
}

func (d *defaults) source(path string) map[string]json.RawMessage {
	if known, ok := d.sources[path]; ok {
		return known
	}
	out := map[string]json.RawMessage{}
	d.sources[path] = out
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", path).Output()
	if err != nil {
		panic(fmt.Sprintf("no source of %s: %v", path, err))
	}
	file := strings.TrimSpace(string(dir)) + "/types.go"
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		return out // a package without types.go holds leaves only
	}
	ast.Inspect(parsed, func(node ast.Node) bool {
		spec, ok := node.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if body, ok := spec.Type.(*ast.StructType); ok {
			collect(spec.Name.Name, body, out)
		}
		return false
	})
	return out
}

func collect(owner string, body *ast.StructType, out map[string]json.RawMessage) {
	for _, field := range body.Fields.List {
		if field.Doc == nil || len(field.Names) == 0 {
			continue
		}
		for _, comment := range field.Doc.List {
			value, ok := strings.CutPrefix(comment.Text, "// +default=")
			if ok && json.Valid([]byte(value)) {
				out[owner+"."+field.Names[0].Name] = json.RawMessage(value)
			}
		}
	}
}
