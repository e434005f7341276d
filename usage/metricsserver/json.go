package metricsserver

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// decodeJSON reads a list from a server that does not support protobuf.
func decodeJSON(body []byte, kind string) ([]itemMetrics, error) {
	var list struct {
		APIVersion, Kind string
		Items            []struct {
			v1beta1.PodMetrics
			Usage corev1.ResourceList
		}
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	if list.APIVersion != "metrics.k8s.io/v1beta1" || list.Kind != kind {
		return nil, fmt.Errorf("it is a %.40q of %.60q (want %s of metrics.k8s.io/v1beta1)", list.Kind, list.APIVersion, kind)
	}
	out := make([]itemMetrics, 0, len(list.Items))
	for _, x := range list.Items {
		m := itemMetrics{namespace: x.Namespace, name: x.Name, at: x.Timestamp.UTC(), window: x.Window.Duration}
		if kind == nodeList {
			m.add(toResourceUse(x.Usage))
		}
		for _, c := range x.Containers {
			m.add(toResourceUse(c.Usage))
		}
		out = append(out, m)
	}
	return out, nil
}

func toResourceUse(list corev1.ResourceList) (u resourceUse) {
	for name, q := range list {
		u.set(string(name), q.AsApproximateFloat64())
	}
	return u
}
