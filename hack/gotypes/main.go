// Command gotypes writes down what Go knows of the built-in API types and a Python program cannot:
// the order of their fields and which of them are left out when empty.
//
//	gotypes table       the table, as JSON
//	gotypes keys        lists of roles, one a line, in; {"key": …, "json": …}, one a line, out
//	gotypes quantities  quantities, one a line, in; their canonical form or "error", one a line, out
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/api/resource"
	kjson "sigs.k8s.io/json"
)

func main() {
	mode := "table"
	if len(os.Args) > 1 {
		mode = os.Args[1]
	}
	var err error
	switch mode {
	case "table":
		err = writeTable(os.Stdout)
	case "keys":
		err = eachLine(os.Stdin, os.Stdout, key)
	case "quantities":
		err = eachLine(os.Stdin, os.Stdout, quantity)
	default:
		err = fmt.Errorf("unknown mode %q", mode)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func eachLine(in io.Reader, out io.Writer, answer func([]byte) (string, error)) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		text, err := answer(lines.Bytes())
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, text); err != nil {
			return err
		}
	}
	return lines.Err()
}

func key(line []byte) (string, error) {
	var roles []role
	if err := kjson.UnmarshalCaseSensitivePreserveInts(line, &roles); err != nil {
		return "", fmt.Errorf("%w in %s", err, line)
	}
	raw, err := json.Marshal(roles)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	answer, err := json.Marshal(map[string]string{"key": fmt.Sprintf("%x", sum[:4]), "json": string(raw)})
	return string(answer), err
}

func quantity(line []byte) (string, error) {
	parsed, err := resource.ParseQuantity(string(line))
	if err != nil {
		return "error", nil
	}
	raw, err := parsed.MarshalJSON()
	return string(raw), err
}
