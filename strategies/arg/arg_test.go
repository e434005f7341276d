package arg

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

type args struct {
	TopologyKey string             `json:"topologyKey"`
	MaxSkew     int                `json:"maxSkew"`
	Dry         bool               `json:"dry"`
	Target      map[string]float64 `json:"target"`
}

func TestDecode(t *testing.T) {
	got := args{TopologyKey: "zone", MaxSkew: 2}
	if errs := Decode([]byte(` {"topologyKey":"rack","dry":true,"target":{"cpu":0.8,"example.com/gpu":1}} `), &got); len(errs) > 0 {
		t.Fatal(errs)
	}
	want := args{"rack", 2, true, map[string]float64{"cpu": 0.8, "example.com/gpu": 1}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, nothing := range []string{"", " \n", "null", "{}", `{"target":null}`} {
		if errs := Decode([]byte(nothing), &got); len(errs) > 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, %+v", nothing, errs, got)
		}
	}
}

func TestInvalidArguments(t *testing.T) {
	for in, want := range map[string][]string{
		`{"topologykey":"a"}`:                       {"topologykey: unknown argument (did you mean topologyKey?)"},
		`{"maxSkew":1,"MAXSKEW":3}`:                 {"MAXSKEW: unknown argument (did you mean maxSkew?)"},
		`{"maxSkew":1,"maxSkew":1}`:                 {"maxSkew: duplicate key (first on line 1)"},
		`{"target":{"cpu":0.8,"cpu":0.7}}`:          {"target.cpu: duplicate key (first on line 1)"},
		`{"zones":1}`:                               {"zones: unknown argument"},
		`{"maxSkew":"one","dry":1,"target":[]}`:     {`maxSkew: want a whole number, found "one"`, `dry: want true or false, found "1"`, "target: want keys and values, found a list"},
		`{"maxSkew":1.5}`:                           {`maxSkew: want a whole number, found "1.5"`},
		`{"maxSkew":99999999999999999999}`:          {`maxSkew: want a whole number, found "99999999999999999999"`},
		`{"maxSkew":null}`:                          {"maxSkew: is empty (want a whole number, or leave the key out)"},
		`{"topologyKey":7}`:                         {`topologyKey: want a word, found "7"`},
		`{"topologyKey":{"a":1}}`:                   {"topologyKey: want a word, found keys and values"},
		`{"target":{"cpu":"80%"}}`:                  {`target.cpu: want a fraction, found "80%" (did you mean 0.80?)`},
		`{"target":{"cpu":"0.8"}}`:                  {`target.cpu: want a fraction, found "0.8" (did you mean 0.80?)`},
		`{"target":{"cpu":"87.5 %"}}`:               {`target.cpu: want a fraction, found "87.5 %" (did you mean 0.875?)`},
		`{"target":{"cpu":"800%"}}`:                 {`target.cpu: want a fraction, found "800%"`},
		`{"target":{"cpu":"much"}}`:                 {`target.cpu: want a fraction, found "much"`},
		`{"target":{"cpu":true}}`:                   {`target.cpu: want a fraction, found "true"`},
		`{"target":{"cpu":1e999}}`:                  {`target.cpu: want a fraction, found "1e999"`},
		`{"target":{"cpu":null}}`:                   {"target.cpu: is empty (want a fraction, or leave the key out)"},
		`[1]`:                                       {"want keys and values, found a list"},
		`{"a":`:                                     {"arguments: broken YAML: line 1: did not find expected node content"},
		`{"dry":"` + strings.Repeat("x", 99) + `"}`: {`dry: want true or false, found "` + strings.Repeat("x", 40) + `..."`},
	} {
		var v args
		var got []string
		for _, err := range Decode([]byte(in), &v) {
			got = append(got, err.Error())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\ngot  %q\nwant %q", in, got, want)
		}
		for resource, f := range v.Target { // the key was given, and is reported once
			if strings.HasPrefix(want[0], "target."+resource+": want") && (!math.IsNaN(f) || len(Fraction("x", f)) > 0) {
				t.Errorf("%s: target is %v", in, f)
			}
		}
	}
}

func TestFraction(t *testing.T) {
	for v, want := range map[float64]string{
		0.5: "", 1: "", math.SmallestNonzeroFloat64: "",
		80:   "x: 80 is not a fraction (want 0..1; did you mean 0.80?)",
		87.5: "x: 87.5 is not a fraction (want 0..1; did you mean 0.875?)",
		1.2:  "x: 1.2 is not a fraction (want above 0, at most 1)",
		0:    "x: 0 is not a fraction (want above 0, at most 1)",
		-3:   "x: -3 is not a fraction (want above 0, at most 1)",
		101:  "x: 101 is not a fraction (want above 0, at most 1)",
	} {
		got := ""
		for _, err := range Fraction("x", v) {
			got += err.Error()
		}
		if got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

func TestLabelKey(t *testing.T) {
	for key, ok := range map[string]bool{"topology.kubernetes.io/zone": true, "rack": true, "": false, "the zone": false, "a/b/c": false, "zone/": false, strings.Repeat("x", 64): false} {
		if got := LabelKey("topologyKey", key); (len(got) == 0) != ok {
			t.Errorf("%q: %v", key, got)
		}
	}
}
