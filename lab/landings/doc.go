// Package landings compares Evenkeel's predictions with the nodes to which the real kube-scheduler binds pods.
//
// One test compares probabilities pod by pod; another test follows a whole pass. The predictions come from the shipped
// program, the bindings from the API server.
package landings
