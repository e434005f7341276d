// Package volume decides on which nodes the volumes of a pod can be used: it models
// VolumeBinding, VolumeZone, VolumeRestrictions and NodeVolumeLimits. It never
// looks at CPU or memory and never binds a volume.
package volume
