package main

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A type is written as a short expression: "string", "*int32", "[]core.Container",
// "{}quantity" (a map by string), "core.PodSpec". A field is [JSON name, flags, type]; the flags
// are e for omitempty and z for omitzero.

var leaves = map[reflect.Type]string{
	reflect.TypeFor[resource.Quantity]():    "quantity",
	reflect.TypeFor[intstr.IntOrString]():   "intorstring",
	reflect.TypeFor[metav1.Time]():          "time",
	reflect.TypeFor[metav1.MicroTime]():     "microtime",
	reflect.TypeFor[metav1.FieldsV1]():      "raw",
	reflect.TypeFor[runtime.RawExtension](): "raw",
	reflect.TypeFor[[]byte]():               "bytes",
}

var kinds = map[reflect.Kind]string{
	reflect.String: "string", reflect.Bool: "bool",
	reflect.Int32: "int32", reflect.Int64: "int64", reflect.Float64: "float64",
}

var roots = []reflect.Type{
	reflect.TypeFor[template](),
	reflect.TypeFor[leaderWorkerSet](),
	reflect.TypeFor[corev1.PodTemplateSpec](),
	reflect.TypeFor[corev1.PersistentVolumeClaim](),
	reflect.TypeFor[corev1.Service](),
	reflect.TypeFor[appsv1.StatefulSet](),
	reflect.TypeFor[appsv1.ControllerRevision](),
}

type table struct {
	types    map[string][][3]string
	defaults *defaults
}

func (t table) add(typ reflect.Type) string {
	if leaf, ok := leaves[typ]; ok {
		return leaf
	}
	if kind, ok := kinds[typ.Kind()]; ok {
		return kind
	}
	switch typ.Kind() {
	case reflect.Pointer:
		return "*" + t.add(typ.Elem())
	case reflect.Slice:
		return "[]" + t.add(typ.Elem())
	case reflect.Map:
		return "{}" + t.add(typ.Elem())
	case reflect.Struct:
		name := nameOf(typ)
		if _, seen := t.types[name]; !seen {
			t.types[name] = [][3]string{}
			t.types[name] = t.fields(typ, name)
		}
		return name
	}
	panic(fmt.Sprintf("no word for %v", typ))
}

func (t table) fields(typ reflect.Type, owner string) [][3]string {
	out := [][3]string{}
	for i := range typ.NumField() {
		field := typ.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || !field.IsExported() {
			continue
		}
		if field.Anonymous && name == "" {
			out = append(out, t.fields(field.Type, owner)...)
			continue
		}
		if name == "" {
			panic(fmt.Sprintf("%v.%s has no JSON name", typ, field.Name))
		}
		t.defaults.note(typ, field, owner, name)
		flags := ""
		for option := range strings.SplitSeq(options, ",") {
			switch option {
			case "omitempty":
				flags += "e"
			case "omitzero":
				flags += "z"
			case "", "inline":
			default:
				panic(fmt.Sprintf("%v.%s: unknown option %s", typ, field.Name, option))
			}
		}
		out = append(out, [3]string{name, flags, t.add(field.Type)})
	}
	return out
}

func nameOf(typ reflect.Type) string {
	path := strings.Split(typ.PkgPath(), "/")
	if path[0] == "main" || len(path) < 2 {
		return "lws." + strings.ToUpper(typ.Name()[:1]) + typ.Name()[1:]
	}
	return path[len(path)-2] + "." + typ.Name()
}

func writeTable(out io.Writer) error {
	t := table{types: map[string][][3]string{}, defaults: newDefaults()}
	for _, root := range roots {
		t.add(root)
	}
	raw, err := json.Marshal(map[string]any{"types": t.types, "defaults": t.defaults.found})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n", raw)
	return err
}
