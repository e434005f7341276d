package objects

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel"
	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
)

// DefinitionsPath is where the API server publishes the schemas of the kinds.
var DefinitionsPath = "/openapi/v3/apis/" + v1alpha1.GroupVersion.String()

// maxDefinitions bounds the document with the schemas, which has about 100 KiB.
const maxDefinitions = 8 << 20

// installDefinitions is what to do if the definitions are missing or too old.
const installDefinitions = "install the CustomResourceDefinitions of this version (evenkeel crds | kubectl apply --server-side -f -)"

// ErrOldDefinition means that the API server does not store all that this program writes of a kind.
var ErrOldDefinition = errors.New("its CustomResourceDefinition is older than this program; " + installDefinitions)

// schema is the part of an OpenAPI schema that says what an object may contain.
type schema struct {
	Properties           map[string]*schema `json:"properties"`
	Items                *schema            `json:"items"`
	AdditionalProperties *schema            `json:"additionalProperties"`
	Enum                 []any              `json:"enum"`
	// Kinds are the kinds that have this schema. Parts of a schema, and schemas that kinds share, have none or many.
	Kinds []metav1.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
}

// UnmarshalJSON implements json.Unmarshaler. It accepts true in place of a schema.
func (s *schema) UnmarshalJSON(text []byte) error {
	type fields schema
	if string(text) == "true" || string(text) == "false" {
		return nil
	}
	return json.Unmarshal(text, (*fields)(s))
}

// embedded returns the schemas of the kinds as this program embeds them.
var embedded = sync.OnceValues(func() (map[string]*schema, error) {
	all := map[string]*schema{}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(evenkeel.CustomResourceDefinitions())))
	for {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		var d struct {
			Spec struct {
				Names    struct{ Kind string }
				Versions []struct {
					Name   string
					Schema struct {
						OpenAPIV3Schema *schema `json:"openAPIV3Schema"`
					}
				}
			}
		}
		if err == nil {
			err = yaml.Unmarshal(text, &d)
		}
		if err != nil {
			return nil, fmt.Errorf("the CustomResourceDefinitions in the program: %w", err)
		}
		for _, v := range d.Spec.Versions {
			if v.Name == v1alpha1.GroupVersion.Version {
				all[d.Spec.Names.Kind] = v.Schema.OpenAPIV3Schema
			}
		}
	}
})

// readDefinitions returns the document with the schemas that the API server publishes.
func readDefinitions(r rest.Interface) func(ctx context.Context) ([]byte, error) {
	return func(ctx context.Context) ([]byte, error) {
		stream, err := r.Get().AbsPath(DefinitionsPath).SetHeader("Accept", "application/json").Stream(ctx)
		if err != nil {
			return nil, err
		}
		defer func() { _ = stream.Close() }()
		text, err := io.ReadAll(io.LimitReader(stream, maxDefinitions+1))
		if err == nil && len(text) > maxDefinitions {
			err = fmt.Errorf("the answer has more than %d MiB", maxDefinitions>>20)
		}
		return text, err
	}
}

// definitionsInterval is the time after which definitions that were as they should be are read again.
const definitionsInterval = time.Hour

// CheckDefinitions returns an error unless the API server publishes, for each kind, all fields and all values of
// enumerations that this program knows. Newer definitions, with more of them, are no error. CheckDefinitions asks the
// API server again an hour after a success, and always after an error. It must not be called concurrently.
func (c *Client) CheckDefinitions(ctx context.Context, now time.Time) error {
	if since := now.Sub(c.checked); !c.checked.IsZero() && since >= 0 && since < definitionsInterval {
		return nil
	}
	err := c.checkDefinitions(ctx)
	if c.checked = now; err != nil {
		c.checked = time.Time{}
	}
	return err
}

func (c *Client) checkDefinitions(ctx context.Context) error {
	text, err := c.Definitions(ctx)
	var published struct {
		Components struct {
			Schemas map[string]*schema `json:"schemas"`
		} `json:"components"`
	}
	if err == nil {
		err = json.Unmarshal(text, &published)
	}
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("the API server publishes no %s: %w; %s", v1alpha1.GroupVersion, err, installDefinitions)
	case err != nil:
		return fmt.Errorf("reading the definitions of %s, which the API server publishes at %s: %w", v1alpha1.GroupVersion, DefinitionsPath, Explain(err))
	}
	is := map[string]*schema{}
	for _, s := range published.Components.Schemas {
		for _, k := range s.Kinds {
			if k.Group == v1alpha1.GroupVersion.Group && k.Version == v1alpha1.GroupVersion.Version && s != nil {
				is[k.Kind] = s
			}
		}
	}
	want, err := embedded()
	if err != nil {
		return err
	}
	for _, kind := range slices.Sorted(maps.Keys(want)) {
		if lacks := want[kind].missingIn(is[kind], kind); lacks != "" {
			return fmt.Errorf("the API server does not know %s: %w", lacks, ErrOldDefinition)
		}
	}
	return nil
}

// missingIn returns the first path that another schema lacks, or "".
func (s *schema) missingIn(other *schema, path string) string {
	switch {
	case s == nil:
		return ""
	case other == nil:
		return path
	}
	for _, v := range s.Enum {
		if other.Enum != nil && !slices.Contains(other.Enum, v) {
			return fmt.Sprintf("the value %v of %s", v, path)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if lacks := s.Properties[name].missingIn(other.Properties[name], path+"."+name); lacks != "" {
			return lacks
		}
	}
	if lacks := s.Items.missingIn(other.Items, path+"[]"); lacks != "" {
		return lacks
	}
	return s.AdditionalProperties.missingIn(other.AdditionalProperties, path+".*")
}
