package cluster

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	resourceapi "k8s.io/apimachinery/pkg/api/resource"
)

// describeToken describes an unexpected JSON token.
func describeToken(t json.Token) string {
	switch t := t.(type) {
	case json.Delim:
		return "keys and values"
	case string:
		return strconv.Quote(truncate(t))
	}
	return fmt.Sprint(t)
}

// truncate limits how much of the input an error message repeats.
func truncate(text string) string {
	if r := []rune(text); len(r) > 40 {
		return string(r[:40]) + "..."
	}
	return text
}

var errTruncated = errors.New("the input is truncated; is the file complete?")

// plainJSONError translates an error of the JSON parser into plain words.
func plainJSONError(err error) error {
	var syntax *json.SyntaxError
	switch {
	case err == io.EOF, err == io.ErrUnexpectedEOF:
		return errTruncated
	case errors.As(err, &syntax):
		return fmt.Errorf("broken JSON: %w", err)
	}
	return err
}

// plainDecodeError explains in plain words why an object cannot be decoded, and names the field.
func plainDecodeError(raw []byte, err error) error {
	var wrongType *json.UnmarshalTypeError
	var noTime *time.ParseError
	switch {
	case errors.As(err, &wrongType):
		found, isNumber := strings.CutPrefix(wrongType.Value, "number ")
		wanted := wantedType(wrongType.Type)
		if isNumber && wanted == "a whole number" { // the number has a fraction, or is too large
			wanted += " in range"
		}
		found = cmp.Or(jsonTypeNames[found], found)
		if wanted == "a word" && (wrongType.Value == "bool" || wrongType.Value == "number") {
			wanted = "a word (in quotes)"
		}
		return errors.New(strings.TrimPrefix(wrongType.Field+": want "+wanted+", found "+found, ": "))
	case errors.As(err, &noTime):
		return fmt.Errorf("%s is not a time such as 2026-01-02T15:04:05Z", strconv.Quote(strings.Trim(noTime.Value, `"`)))
	case errors.Is(err, resourceapi.ErrFormatWrong), errors.Is(err, resourceapi.ErrNumeric), errors.Is(err, resourceapi.ErrSuffix):
		var x any
		if json.Unmarshal(raw, &x) == nil {
			if at, text, ok := findBadQuantity(x, ""); ok {
				return fmt.Errorf("%s: %q is not a quantity (want a number with an optional unit, such as 500m, 2 or 4Gi)", at, text)
			}
		}
	}
	return err
}

var jsonTypeNames = map[string]string{"array": "a list", "object": "keys and values", "bool": "true or false",
	"number": "a number", "string": "a word"}

func wantedType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "keys and values"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a word"
	case reflect.Pointer:
		return wantedType(t.Elem())
	}
	return "a whole number"
}

// quantityFields are the fields that map resource names to quantities.
var quantityFields = []string{"requests", "limits", "capacity", "allocatable", "overhead", "usage"}

// findBadQuantity returns the path and text of the first quantity that cannot be parsed.
func findBadQuantity(x any, path string) (at, text string, found bool) {
	switch x := x.(type) {
	case map[string]any:
		isAmounts := slices.Contains(quantityFields, path[strings.LastIndex(path, ".")+1:])
		for _, key := range sortedKeys(x) {
			below := strings.TrimPrefix(path+"."+key, ".")
			if s, ok := x[key].(string); ok && isAmounts {
				if _, err := resourceapi.ParseQuantity(s); err != nil {
					return below, s, true
				}
			}
			if at, text, found = findBadQuantity(x[key], below); found {
				return at, text, true
			}
		}
	case []any:
		for i := range x {
			if at, text, found = findBadQuantity(x[i], fmt.Sprintf("%s[%d]", path, i)); found {
				return at, text, true
			}
		}
	}
	return "", "", false
}
