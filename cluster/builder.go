package cluster

import (
	"errors"
	"fmt"
)

type builder struct {
	o          *Objects
	s          *Snapshot
	labelIndex labelIndex
	errs       []error
}

// maxErrors limits how many errors are listed. If the same file is given twice, every object is
// a duplicate.
const maxErrors = 5

func (b *builder) joinedErrors() error {
	if n := len(b.errs) - maxErrors; n > 0 {
		return errors.Join(append(b.errs[:maxErrors:maxErrors], fmt.Errorf("... and %d more errors; was the same file given twice?", n))...)
	}
	return errors.Join(b.errs...)
}

func (b *builder) addError(format string, args ...any) {
	b.errs = append(b.errs, fmt.Errorf(format, args...))
}

// labelIndex maps a namespace and a label key to the pods by label value. Large clusters have
// thousands of Services and budgets that each select by one label. Testing every pod of the
// namespace for each of them would take minutes.
type labelIndex map[namespaceKey]map[string][]PodID

type namespaceKey struct{ namespace, key string }
