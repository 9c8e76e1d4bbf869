// Command wiretypes writes down what the Go types of the built-in kinds do on the wire and public
// schemas do not tell: the order of fields, which are pointers, and which are left out when empty.
//
// Output is JSON: {"types": {definition: [[JSON name, flags, word, Go type, embedded], …]}}, where the
// definition is named as in the OpenAPI document, flags are e for omitempty and z for omitzero,
// and the word is one of string, bool, int, float, list, map, struct, time, quantity, intorstring,
// raw, bytes, any, with a leading * for a pointer; embedded names the structs between the type and
// the field, with a dot after each.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var leaves = map[reflect.Type]string{
	reflect.TypeFor[resource.Quantity]():    "quantity",
	reflect.TypeFor[intstr.IntOrString]():   "intorstring",
	reflect.TypeFor[metav1.Time]():          "time",
	reflect.TypeFor[metav1.MicroTime]():     "time",
	reflect.TypeFor[metav1.Duration]():      "string",
	reflect.TypeFor[metav1.FieldsV1]():      "raw",
	reflect.TypeFor[runtime.RawExtension](): "raw",
	reflect.TypeFor[[]byte]():               "bytes",
}

type table map[string][][5]string

func (t table) word(typ reflect.Type) string {
	if leaf, ok := leaves[typ]; ok {
		return leaf
	}
	if typ.Implements(reflect.TypeFor[json.Marshaler]()) && typ.Kind() == reflect.Struct {
		return "any"
	}
	switch typ.Kind() {
	case reflect.Pointer:
		return "*" + t.word(typ.Elem())
	case reflect.Slice:
		t.word(typ.Elem())
		return "list"
	case reflect.Map:
		t.word(typ.Elem())
		return "map"
	case reflect.Struct:
		t.add(typ)
		return "struct"
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Int32, reflect.Int64, reflect.Uint8:
		return "int"
	case reflect.Float64:
		return "float"
	}
	panic(fmt.Sprintf("no word for %v", typ))
}

func (t table) add(typ reflect.Type) {
	name := definition(typ)
	if _, seen := t[name]; seen {
		return
	}
	t[name] = [][5]string{}
	t[name] = t.fields(typ, "")
}

func (t table) fields(typ reflect.Type, embedded string) [][5]string {
	out := [][5]string{}
	for i := range typ.NumField() {
		field := typ.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || !field.IsExported() {
			continue
		}
		if field.Anonymous && name == "" {
			out = append(out, t.fields(field.Type, embedded+field.Name+".")...)
			continue
		}
		flags := ""
		for option := range strings.SplitSeq(options, ",") {
			switch option {
			case "omitempty":
				flags += "e"
			case "omitzero":
				flags += "z"
			}
		}
		out = append(out, [5]string{name, flags, t.word(field.Type), field.Type.String(), embedded})
	}
	return out
}

// The name that the OpenAPI document gives a type: k8s.io/api/core/v1.Pod is io.k8s.api.core.v1.Pod.
func definition(typ reflect.Type) string {
	domain, path, _ := strings.Cut(typ.PkgPath(), "/")
	parts := strings.Split(domain, ".")
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return strings.Join(parts, ".") + "." + strings.ReplaceAll(path, "/", ".") + "." + typ.Name()
}

func main() {
	t := table{}
	for _, root := range roots {
		t.add(root)
	}
	raw, err := json.Marshal(map[string]any{"types": t})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(string(raw))
}
