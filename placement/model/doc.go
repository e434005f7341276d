// Package model holds a snapshot in which the planner can move pods. The model keeps every count
// that filters and scores read: requests by node, pods by equivalence class and topology domain,
// affinity terms, host ports, disks and volumes. The package decides which pods the scheduler
// cannot tell apart. The package never filters, scores or predicts.
package model
