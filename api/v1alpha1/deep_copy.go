package v1alpha1

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime"
)

// DeepCopyObject implements runtime.Object.
func (o *RebalancePlan) DeepCopyObject() runtime.Object { return DeepCopy(o) }

// DeepCopyObject implements runtime.Object.
func (o *RebalancePlanList) DeepCopyObject() runtime.Object { return DeepCopy(o) }

// DeepCopyObject implements runtime.Object.
func (o *Rebalancer) DeepCopyObject() runtime.Object { return DeepCopy(o) }

// DeepCopyObject implements runtime.Object.
func (o *RebalancerList) DeepCopyObject() runtime.Object { return DeepCopy(o) }

// DeepCopyObject implements runtime.Object.
func (o *RebalanceRun) DeepCopyObject() runtime.Object { return DeepCopy(o) }

// DeepCopyObject implements runtime.Object.
func (o *RebalanceRunList) DeepCopyObject() runtime.Object { return DeepCopy(o) }

// DeepCopyObject implements runtime.Object.
func (o *RebalanceHistory) DeepCopyObject() runtime.Object { return DeepCopy(o) }

// DeepCopyObject implements runtime.Object.
func (o *RebalanceHistoryList) DeepCopyObject() runtime.Object { return DeepCopy(o) }

// DeepCopy copies an object through its JSON form. Objects are copied so rarely that 1,100 lines of generated functions
// would not pay.
func DeepCopy[T any](o *T) *T {
	text, err := json.Marshal(o)
	out := new(T)
	if err == nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil {
		panic(err) // each of these types has a JSON form
	}
	return out
}
