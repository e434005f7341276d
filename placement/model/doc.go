// Package model holds a snapshot in which pods can be moved. It keeps every count
// that filters and scores read: requests by node, pods by equivalence class and
// topology domain, affinity terms, host ports, disks and volumes. It decides which
// pods the scheduler cannot tell apart. It never filters, scores or predicts.
package model
